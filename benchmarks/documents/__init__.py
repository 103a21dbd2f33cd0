"""A corpus of documents with a fact each, and a comparison of the programs that read them.

    make bench-documents [BENCH="--only word --readers forethought,markitdown"]

`cases/*.yaml` hold the files by kind: the content of each, a person's question about it, and the fact that a
reader's text must hold. `builders/` make the files, `corpus.py` judges a text, `__main__.py` compares
Forethought with other readers.
"""
