"""How fast a folder of many documents is indexed and searched, and how well its passages are ranked.

    make bench-folder            10,000 documents, about 1 GB
    make bench-folder QUICK=1    1,000 documents
    python -m benchmarks.folder_speed --data DIR

With `--data`, it measures ranking on HotpotQA alone: DIR holds JSON files, either rows of HotpotQA
(`question`, `context`, `supporting_facts`) or further paragraphs (`title`, `text`), and bm25s ranks the same
paragraphs.
"""
