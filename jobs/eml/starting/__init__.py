"""What starting and stopping the job needs besides Flink: its state on disk, its log files and the console.

Called by `eml.job` and `eml.flink`; knows the settings and Flink's file names, but imports no Flink.
"""
