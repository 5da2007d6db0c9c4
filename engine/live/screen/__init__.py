"""The terminal: what is shown of a session, and the computer's keys that are typed there.

In here come readings of the meter and characters; out go lines of text and commands. It may be slow: sound does not
wait for it.
"""
