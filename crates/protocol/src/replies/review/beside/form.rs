//! The form of a text that contradicts a count of 0: a failing verdict, or a tag that was not read as a finding.

use std::sync::LazyLock;

use regex::Regex;

use crate::text::{LineKind, Structure, location, markdown, pattern};
use glee_model::domain::Tag;

/// Returns the line of the text that contradicts the count.
pub fn contradiction(text: &str) -> Option<String> {
    let mut structure = Structure::default();
    for line in text.lines() {
        if !matches!(structure.classify(line), LineKind::Text | LineKind::Heading) {
            continue;
        }
        let plain = markdown::plain(line).replace(['*', '`'], "");
        let is_failing = FAILING.is_match(plain.trim()) || FAILING_ALONE.is_match(plain.trim());
        if is_failing || has_unread_tag(line) {
            return Some(line.trim().to_owned());
        }
    }
    None
}

/// Returns a line of fenced code or of a quote that has the form of a finding.
pub fn quoted_finding(text: &str) -> Option<String> {
    let mut structure = Structure::default();
    let lines = text
        .lines()
        .filter(|line| matches!(structure.classify(line), LineKind::Code | LineKind::Quote));
    let mut lines = lines.map(|line| line.trim_start_matches(['>', ' ']));
    lines
        .find(|line| BRACKETED.is_match(line) && location::find(line).is_some())
        .map(str::to_owned)
}

const FAILS: &str = r"(?:fail(?:ed|ing|s|ure)?|reject(?:ed)?|block(?:ed|er|ing)?|request(?:ing|ed)?[ _-]changes|changes?[ _-](?:requested|required|needed)|needs?[ _-](?:work|changes|fix(?:es)?|attention|revision)|not[ _-](?:approved|ready|ok|acceptable|mergeable|pass(?:ed|ing)?|safe|clean|good)|no[ _-]?go|nack|concerns|do[ _-]not[ _-](?:merge|ship|approve)|don't merge|unsafe|den(?:y|ied)|declined?|nicht (?:bestanden|genehmigt|freigegeben|in ordnung)|abgelehnt|ablehnung|durchgefallen|rejetée?|refusée?|échec|échouée?|rechazad[oa]|fall[oó]|fallido|suspendido|respinto|rifiutato|reprovado|rejeitado|afgekeurd|odrzucon[oy]|не пройдено|отклонено|不通过|未通过|拒绝|失败|驳回|需要修改|不合格|不通過|失敗|却下|要修正|差し戻し|거부|불합격|실패|반려)";

/// `Verdict: fail`, `**Decision** - request changes`, `Final verdict is FAIL`
static FAILING: LazyLock<Regex> = LazyLock::new(|| {
    let label = r"(?:verdict|decision|conclusion|result|outcome|recommendation|assessment|status|judge?ment|review|rating|gate|overall|answer|disposition|determination|urteil|entscheidung|ergebnis|fazit|bewertung|empfehlung|décision|résultat|avis|decisión|resultado|veredicto|conclusión|decisione|risultato|esito|decisão|oordeel|besluit|вердикт|решение|результат|审查结果|审查结论|结论|判定|决定|结果|審査結果|結論|結果|判断|판정|결론|결과)";
    let text = format!(
        r"(?i)(?:^|[.!?;。]\s*)\W{{0,8}}(?:\p{{L}}+\s+){{0,3}}{label}\s*(?:[:：=>→–—-]+|is\b|ist\b|:\s*is\b)\W{{0,6}}{FAILS}(?:[^\p{{L}}\d]|$)"
    );
    pattern(&text)
});

/// `FAIL`, `REQUEST CHANGES: two regressions`
pub fn fails(value: &str) -> bool {
    FAILING_ALONE.is_match(value.trim()) || value.to_lowercase().contains("is incorrect")
}

static FAILING_ALONE: LazyLock<Regex> = LazyLock::new(|| {
    let text = format!(
        r"^\W{{0,8}}(?:(?i:{FAILS})\W*$|(?:FAIL|FAILED|REJECT|REJECTED|BLOCK|BLOCKED|BLOCKER|REQUEST[ _]CHANGES|CHANGES[ _]REQUESTED|NOT APPROVED|NO-GO|NACK)\s*(?:[:.!,;(–—]|-\s))"
    );
    pattern(&text)
});

/// A tag in brackets of any width, or a tag word at the start of an item.
static BRACKETED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)[\[［【〔(（<]\s*(must|should|critical|high|medium|low|blocker|major|minor|p[0-4])\s*[\]］】〕)）>]",
    )
});

static AT_START: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(MUST|SHOULD|CRITICAL|HIGH|MEDIUM|LOW|BLOCKER|MAJOR|MINOR|P[0-4])\b\s*(?:[:：|–—-]|\(|§|\S+[.:/]\S*\d|$)\s*(.*)$",
    )
});

/// Says that there is none of a kind, as in `HIGH: none`.
static NONE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:no|none|nothing|0|zero|n/a|without|not|neither|nor|any|empty|kein\w*|aucune?|ningun[oa]?|nessun[oa]?|geen)\b|[无無没沒未]|ない|なし|ません|없|✓|✅",
    )
});

fn has_unread_tag(line: &str) -> bool {
    let peeled = markdown::peel_item(line);
    let rest = peeled
        .rest
        .trim_start_matches(['*', '_'])
        .replace(['*', '`'], "");
    if let Some(found) = AT_START.captures(rest.trim()) {
        let word = &found[1];
        let behind = found[2].trim();
        let is_tag = Tag::parse(word).is_some() || word.len() > 1;
        // A tag without text is a heading of a list that can be empty.
        return is_tag && !behind.is_empty() && !NONE.is_match(behind) && !is_count(behind);
    }
    BRACKETED.find_iter(line).any(|tag| {
        let is_round = tag.as_str().starts_with(['(', '（', '<']);
        let before = line[..tag.start()].trim_end();
        let behind = line[tag.end()..].trim();
        let is_glued = !line[..tag.start()].ends_with(char::is_whitespace)
            && before.ends_with(char::is_alphanumeric);
        let starts = markdown::peel_item(before)
            .rest
            .trim_matches(['*', '_', '`'])
            .is_empty();
        let quoted = before.ends_with('`') || before.matches('`').count() % 2 == 1;
        !is_round
            && !quoted
            && (starts || is_glued)
            && !NONE.is_match(behind)
            && !NONE.is_match(before)
            && !is_legend(behind)
    })
}

fn is_legend(behind: &str) -> bool {
    behind.starts_with(['=', '＝', '/', '|', ',', '`'])
}

fn is_count(text: &str) -> bool {
    text.trim_end_matches('.').bytes().all(|byte| byte == b'0')
}
