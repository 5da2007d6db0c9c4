"""The sound card: PortAudio's library, the cards it knows, a stream on one of them, and what to do when it is gone.

In here comes whatever speaks to PortAudio or looks after its stream. The stream's thread only ever calls `thread/`.
"""
