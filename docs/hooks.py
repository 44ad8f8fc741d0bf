"""What the site shows from outside of docs/: README, the changelog and the results.

On disk links go from file to file of the repository; on the site those files have other places.
"""

import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
ELSEWHERE = {"README.md": "index.md", "CHANGELOG.md": "changelog.md"}
RESULTS = (".md", ".svg", ".csv", ".json")
ARCHIVE = ROOT / "results" / "evidence"
"""Hundreds of files for the command line, none to look at: they are not on the site."""
STAR = re.compile(r"(```.*?```|`[^`\n]*`)|(?<=\b[kV])\*(?!\*)", re.S)
"""Code, or the star of k* and V*, which does not begin an emphasis."""


def on_files(files, config):
    """Adds the files that are not in docs/."""
    for source, place in ELSEWHERE.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / source)))
    for path in sorted((ROOT / "results").rglob("*")):
        if path.suffix in RESULTS and ARCHIVE not in path.parents:
            place = path.relative_to(ROOT).as_posix()
            files.append(File.generated(config, place, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Points links to where the files are on the site."""
    markdown = STAR.sub(lambda found: found[1] or r"\*", markdown)
    markdown = markdown.replace("```python rllib\n", "```python\n")  # A note to the tests.
    if page.file.src_uri == "index.md":
        page.meta["hide"] = ["navigation"]
    if page.file.src_uri in ELSEWHERE.values():
        markdown = re.sub(r"\]\(docs/", "](", markdown)
        return markdown.replace("](CHANGELOG.md)", "](changelog.md)")
    if page.file.src_uri.startswith("results/"):
        return markdown.replace("[evidence](evidence)", "`results/evidence`")
    up = "../" * page.file.src_uri.count("/")
    links = {f"{up}../{source}": up + place for source, place in ELSEWHERE.items()}
    links[f"{up}../results/"] = f"{up}results/"
    for old, new in links.items():
        markdown = markdown.replace(f"]({old}", f"]({new}")
    return markdown
