"""Finished trials kept in a folder, so that a broken run goes on where it stood and a report needs no run at all.

`session -> resume -> store, sources, (runner)`; what a trial is and how one is performed is the scenarios' business.
"""
