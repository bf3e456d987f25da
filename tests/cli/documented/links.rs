//! Checks the links of all pages and the table of contents of the book.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{ROOT, blocks, markdown, name, pages, read};

/// The targets of the links of a page, without those in blocks and in code.
fn links(page: &str) -> Vec<String> {
    let mut text = page.to_owned();
    for block in blocks(page) {
        text = text.replace(&block.lines.join("\n"), "");
    }
    let prose: String = text.split('`').step_by(2).collect();
    prose
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target.to_owned())
        .collect()
}

/// The anchors of the headings of a page, as GitHub and mdBook derive them.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = page
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| line.trim_start_matches('#').trim());
    let anchor = |heading: &str| {
        let kept = heading
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    };
    headings.map(anchor).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let root = Path::new(ROOT);
    let mut all = pages();
    all.extend(["AGENTS.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root.join(name)));
    all.extend(markdown(&root.join("examples")));
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for page in &all {
        let text = read(page);
        for link in links(&text).iter().filter(|link| !link.contains("://")) {
            checked += 1;
            let (path, anchor) = link
                .split_once('#')
                .map_or((link.as_str(), None), |(path, to)| (path, Some(to)));
            let target = page.parent().expect("a page is in a folder").join(path);
            let target = if path.is_empty() {
                page.clone()
            } else {
                target
            };
            let leads = match anchor {
                Some(anchor) => target.is_file() && anchors(&read(&target)).contains(anchor),
                None => target.exists(),
            };
            if !leads {
                wrong.push(format!("{}: {link}", name(page)));
            }
        }
    }
    assert!(checked > 50, "only {checked} links were found");
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_book_contains_every_page_and_nothing_else() {
    let docs = Path::new(ROOT).join("docs");
    let summary = docs.join("SUMMARY.md");
    let canonical = |path: PathBuf| path.canonicalize().unwrap_or(path);
    let listed: BTreeSet<PathBuf> = links(&read(&summary))
        .iter()
        .map(|link| canonical(docs.join(link)))
        .collect();
    let pages: BTreeSet<PathBuf> = markdown(&docs)
        .into_iter()
        .filter(|page| *page != summary)
        .map(canonical)
        .collect();
    assert_eq!(listed, pages);
    for page in &pages {
        let leaves = |link: &&String| {
            let path = link.split('#').next().unwrap_or_default();
            !link.contains("://")
                && !canonical(page.with_file_name("").join(path))
                    .starts_with(canonical(docs.clone()))
        };
        let outside: Vec<String> = links(&read(page)).iter().filter(leaves).cloned().collect();
        assert!(
            outside.is_empty(),
            "{}: a book does not contain {outside:?}",
            name(page)
        );
    }
}
