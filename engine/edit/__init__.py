"""The editor in the browser: a page that watches a live session and asks things of it. The sound knows nothing of it.

`studio` is what is edited and played; `server` hands requests to it and pictures to pages; `page/` is what the browser
shows. Nothing in here is called by the audio thread.
"""
