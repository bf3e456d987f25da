//! The words that the reading of prose beside a count of 0 knows, in lower case.
//!
//! No word decides. A word only makes Glee ask the reviewer (see [`super`]), so a missing word costs an unasked
//! question and a superfluous word costs one question.

use std::collections::HashSet;
use std::sync::LazyLock;

pub(crate) type WordSet = LazyLock<HashSet<&'static str>>;

macro_rules! words {
    ($($name:ident: $text:expr;)*) => {
        $(pub(crate) static $name: WordSet = LazyLock::new(|| $text.split_whitespace().collect());)*
    };
}

words! {
    NEGATIONS: "no not never none nothing nobody without zero 0 neither nor cannot unable lack lacks lacking \
        kein keine keinen keiner keinerlei keines nichts nicht ohne niemals nie \
        aucun aucune pas rien sans jamais ningún ninguna ningun ninguno nada sin nunca \
        nessun nessuna nessuno non niente nulla senza nenhum nenhuma não nao sem geen niets niet zonder \
        brak żadnych nie bez inga inget ingen ingenting inte ikke нет не без ничего никаких";

    // What a review looks for. Beside a negation it says that nothing was found; without one it says that something was.
    NOUNS: "issue issues problem problems finding findings concern concerns bug bugs defect defects error errors \
        vulnerability vulnerabilities regression regressions blocker blockers violation violations objection objections \
        flaw flaws mistake mistakes weakness weaknesses risk risks smell smells nit nits gap gaps \
        problem probleme problemen fehler mängel befund befunde beanstandung beanstandungen auffälligkeit \
        auffälligkeiten einwand einwände schwachstelle schwachstellen bedenken \
        problème problèmes probleme erreur erreurs défaut défauts anomalie anomalies souci soucis vulnérabilité \
        vulnérabilités constat constats régression régressions objection \
        problema problemas error errores hallazgo hallazgos defecto defectos incidencia incidencias vulnerabilidad \
        vulnerabilidades problemi errore errori difetto difetti rilievo rilievi criticità erro erros achado achados defeito \
        defeitos problemen fouten bevinding bevindingen problemów błędów błędy fel problemer fejl \
        проблем проблема проблемы ошибок ошибка ошибки дефектов уязвимостей нарушений";

    // Beside a negation these say the same; alone they say nothing.
    MILD_NOUNS: "anything further more impact difference differences effects warnings references misconfiguration secrets \
        credentials melden ajouter señalar reportar segnalare proposer aggiungere comment comments suggestion suggestions remark remarks complaint complaints improvement \
        improvements feedback flags \
        critical high medium low major minor must should info p0 p1 p2 p3 p4 reason objection objections \
        anmerkung anmerkungen hinweis hinweise verbesserung verbesserungen auszusetzen \
        remarque remarques comentario comentarios observaciones observación \
        segnalazioni segnalazione comentário comentários opmerking opmerkingen uwag anmärkningar \
        замечаний замечания";

    // Beside a negation and one of the words of need, these say that nothing has to be done.
    WORK: "change changes fix fixes action actions correction corrections modification modifications follow-up rework \
        änderung änderungen cambios modifiche alterações wijzigingen zmian";

    NEED: "needed required requested necessary suggested recommended needs need erforderlich nötig notwendig nécessaire \
        nécessaires necesarios necesario necessari necessarie necessárias nodig";

    // A negation that stands for what was found.
    NOTHINGS: "nothing none nichts rien nada niente nulla ничего ingenting niets";

    // Words that make an approval depend on something.
    CONDITIONS: "once after provided pending subject modulo assuming conditional conditionally until unless if sobald \
        sofern après dès cuando";

    APPROVALS: "lgtm approve approved approving merge ship good";

    FOUND: "find found finding see saw seen spot spotted identify identified notice noticed detect detected observe \
        observed uncover discover discovered report reported raise raised flag flagged have has had got surfaced exist exists encontré encontrado encontrei encontrou encontramos encontraron hallé trovato trovati trouvé \
        détecté relevé vu identifié gefunden entdeckt festgestellt aufgefallen sehe znalazłem hittade fandt gevonden обнаружено найдено выявлено \
        нашел нашёл нашла обнаружил обнаружила обнаружен вижу выявил";

    // Verbs that, with a negation, say something good or something about running the code.
    NEUTRAL_NEGATED: "network introduce introduces introduced change changes changed alter alters altered affect affects \
        affected break breaks broken impact impacts modify modifies modified touch touches touched touching run ran running \
        execute executed regress regresses require requires required need needs needed test tests tested build built compile \
        compiled leak leaks block blocks blocking expose exposes exposed longer only matter matters caller callers reach reaches log logs logged print prints printed store stores stored \
        depend depends asks ask else bother \
        worse weaken weakens remove removes removed lose loses lost regress new necessary applicable user-facing \
        verändert geändert ausgeführt nötig notwendig erforderlich weiteren modifié nécessaire exécuté necesario \
        ejecutado executado eseguito";

    // What a reviewer reads, and with what.
    READING: "i i'm i've i'd we me my ich wir je j'ai tool tools file files diff context output access read review command \
        request repository repo workspace attachment content contents prompt reviewed reading reviewing tree datei dateien \
        fichier fichiers archivo archivos arquivo zugriff accès acceso файл файла pude consegui konnte pu";

    POSITIVE: "correct correctly proper properly fine ok okay safe safely sound clean cleanly good great handled covered \
        bound escaped validated sanitized intact unchanged harmless intentional intended expected appropriate appropriately \
        consistent consistently well robust right none solid closed released acceptable \
        reasonable straightforward tidy sensible complete correctness preserved preserves parameterized parameterised \
        guarded checked checks-out same identical unaffected symmetrical addressed resolved fixed approve approved approving accurate merge mergeable ready satisfied complies succeed succeeds success successful successfully sense fixes equivalent idiomatic lgtm ✓ ✔ ✅ 👍 \
        korrekt sauber gut ordnung unbedenklich behoben geprüft correcte correctement propre propres bien \
        correcto correcta bien limpio correto bom corretto bene pulito netjes goed";

    // Verbs whose object is a hazard that the code deals with.
    HANDLES: "considered moved moves drops gone replaces replaced reduces reduced handle handles handled handling avoid avoids prevent prevents prevented guard guards fix fixes fixed catch \
        catches reject rejects rejected raise raises return returns returned reported surfaced asserted wrapped wraps wrap mapped converted prints printed emits says reads cover covers covered protect protects resolve resolves \
        resolved remove removes removed eliminate eliminates log logs logged propagate propagates propagated against \
        tolerate tolerates including regarding verhindert behandelt évite gère";

    LOOKED: "look looked looking check checked checking search searched scan scanned review reviewed screen screened audit \
        audited watch watched hunt hunted inspect inspected focus focused probe probed test tested scanning searching \
        reviewing verify verified examine examined considered consider";

    // A part of the code was possibly not read, or the answer is not a review.
    LIMITS: "unable truncated truncation partial partially incomplete skim skimmed unreadable unavailable inaccessible \
        denied forbidden refused excluded omitted omit skipped skip timeout timed exhausted exceeded relied blocked \
        cut cropped clipped dropped low garbled remaining failed fails fail failing failure failures \
        limit limits limited sorry apologies apologize apologise unfortunately decline declined sandboxed ignored ignore \
        refuse refuses aborted interrupted abort stopped cancelled canceled unsupported unknown placeholder redacted hidden elided \
        abbreviated sampled beyond oversized tooling login unauthorized disconnected offline crashed crash unfinished pending later tomorrow assume assumed \
        assuming assumption guess guessed guessing spot-checked mostly largely roughly briefly glanced cursory superficial \
        abgeschnitten teilweise unvollständig verweigert ausgeschlossen übersprungen gekürzt leider entschuldigung \
        nur ausschließlich restlichen konnte konnten fehlgeschlagen abgebrochen unleserlich \
        tronqué tronquée partiellement incomplet incomplète refusé refusée exclu ignoré impossible désolé \
        malheureusement seulement uniquement échoué pu \
        truncado truncada parcialmente incompleto incompleta denegado denegada excluido imposible siento \
        lamentablemente solo sólo solamente falló pude \
        troncato parzialmente incompleto negato escluso impossibile purtroppo soltanto metà scusa \
        negado excluído impossível infelizmente apenas somente restante desculpe \
        afgekapt gedeeltelijk onvolledig geweigerd helaas alleen helft sorry \
        только частично обрезан отказано невозможно удалось извините";

    // These say it wherever they stand.
    SURE_LIMITS: "truncated skimmed skim unreadable inaccessible skipped omitted excluded partially spot-checked unreviewed \
        abgeschnitten übersprungen tronqué truncado troncato";

    EMPTY: "empty blank leer vide vacío vuoto vazio leeg пуст пустой";

    // The words of a defect.
    DEFECTS: "leak leaks leaked leaking race races deadlock deadlocks injection injections xss csrf ssrf traversal \
        overflow overflows underflow broken breaks wrong incorrect incorrectly vulnerable insecure insecurely unsafe unsafely \
        weak weakly hard-coded hardcoded unescaped unsanitized unsanitised unvalidated unchecked unhandled unclosed unused \
        unbounded unauthenticated unencrypted unprotected unreachable uninitialized uninitialised undefined missing typo \
        typos misspelled dead duplicate duplicated duplication off-by-one stale deprecated outdated corrupt corrupts \
        corruption bypass bypasses bypassed plaintext plain-text cleartext md5 sha1 sha-1 rc4 eval pickle obsolete \
        crash crashes crashing panic panics hang hangs loses lost swallow swallows swallowed ignores ignored suppresses \
        silently quadratic slow slower inefficient fragile brittle flaky confusing misleading inconsistent ambiguous \
        redundant unnecessary problematic dangerous exploitable exploit attacker severe serious critical major \
        high-severity medium-severity low-severity blocking blocks wrongly mistakenly accidentally forgot forgets forgotten \
        untested vulnerability regression bug defect flaw world-readable predictable collides collision collisions \
        exhaust exhausts exhaustion contradicts mismatch mismatched mutates shadowed shadows clobbers overwrites truncates \
        violates violate breakage regresses fail-open timing-unsafe guessable exposed exposes leaky sloppy questionable \
        kaputt falsch fehlerhaft unsicher leckt leck lücke fehlt fehlen veraltet gefährlich \
        fuite cassé cassée vulnérable incorrecte dangereux manque manquant obsolète faille \
        fuga roto rota falta inseguro insegura peligroso perdita errato manca rotto vazamento quebrado lek kapot onveilig \
        утечка отсутствует неверно небезопасно";

    // The words of advice, doubt and reservation. In a clause with a positive word they say nothing.
    RESERVATIONS: "should must might may could would need needs ought recommend recommends suggest suggests \
        suggestion suggestions consider fixme nitpick caveat caveats unless unclear unsure uncertain risky \
        careful beware potential potentially possibly possible perhaps maybe probably suspicious strange \
        odd surprising wonder note noting worth minor cosmetic improve improved improvement improvements better \
        prefer preferable ideally please provide paste share clarify blocker concern concerning \
        bothers bother worry worries worried disagree revisit reconsider mandatory wish wonders hesitant \
        sollte sollten müsste muss bitte vielleicht eventuell könnte empfehle vorschlag hinweis achtung \
        devrait faudrait doit veuillez peut-être pourrait recommande conseille \
        debería deberían debe favor quizás podría recomiendo sugiero cuidado \
        dovrebbe deve forse potrebbe consiglio deveria deve talvez poderia recomendo sugiro zou moet misschien \
        следует нужно возможно пожалуйста";

    CONTRASTS: "but however although though except excepting aside apart besides otherwise nevertheless nonetheless whereas \
        albeit save notwithstanding only-but \
        aber jedoch allerdings außer obwohl mais cependant toutefois sauf pourtant pero embargo aunque salvo excepto \
        però tuttavia tranne eccetto porém contudo todavia exceto maar echter behalve но однако кроме хотя";

    READS: "read see saw seen view viewed access accessed open opened inspect inspected review reviewed load loaded fetch \
        fetched retrieve retrieved examine examined analyze analyzed analyse analysed look looked reading \
        reviewing seeing checked check cover covered verified verify decoded visible displayed \
        lesen gelesen geprüft einsehen gesehen lire lu lues vu examiné leer leído revisado leggere letto ler lido";

    PARTS: "only just part parts half some most portion portions few beginning top excerpt excerpts fragment fragments \
        partly chunk chunks snippet snippets mostly rest remaining filenames \
        nur teil teile hälfte ersten partie début moitié premières parte mitad primera primeras metà metade eerste";

    REVIEWED: "tested works work matches match agree agrees affects reviewed review read checked examined inspected traced verified looked analyzed analysed audited compared \
        walked went followed confirmed geprüft gelesen durchgesehen examiné relu vérifié lu revisado leído verificado \
        esaminato verificato gelezen bekeken проверил проверены";

    // A comma before one of these begins a clause, so that a negation does not reach behind it.
    STARTS: "the this that these those it its there we i you they he she because since as when while where \
        which who still one two three now also then der die das ein eine es dies diese ich wir le la les un une il elle ce \
        cette je nous el los las una este esta yo lo il gli uno questo o os as um uma este eu de het een dit ik в это";

}

pub(crate) fn is_negation(word: &str) -> bool {
    NEGATIONS.contains(word) || word.ends_with("n't")
}

/// Says that nothing was found, in languages without blanks between words. It is taken out of its sentence before the
/// rest is read.
pub(crate) const NOTHING_CJK: &str = "(?:没有|沒有|未|无|無|没|沒|尚未|并未|並未)(?:再)?(?:发现|發現|看到|检测到|存在)?(?:需要)?(?:任何|其他|明显的?|新的?|严重|阻塞性?|安全性?|正确性|性能|逻辑|功能|或|和|、|及|上的?|的)*(?:问题|問題|缺陷|错误|錯誤|漏洞|隐患|风险|異常|异常|意见|發現|发现|bug|Bug|BUG|报告的(?:内容|问题)|(?:修改|更改|修复|改动|补充)(?:的(?:地方|内容|问题))?)(?:(?:或|和|、|及)[^，。；]{0,8}(?:问题|漏洞|缺陷|风险|错误))*|\
    不存在(?:任何)?(?:问题|問題|缺陷|漏洞)|无需(?:修改|更改)|看起来(?:不错|很好|没问题)|可以合并|审查通过|一切正常|\
    (?:が、|が,)?(?:(?:バグ|不具合|欠陥|誤り|脆弱性|セキュリティ|性能|品質|設計|動作|機能|技術|問題)(?:や|・|、|および))*(?:(?:セキュリティ|性能|品質|設計|動作|機能|技術|実装)(?:上の|面の|的な|の))?(?:ともに)?(?:特に|とくに|重大な|新たな|新しい)?(?:問題|指摘事項|指摘|不具合|懸念|バグ|脆弱性|欠陥|改善点|課題|気になる箇所|報告すべき事項|報告すべき)(?:点|事項)?(?:は|も|が|ともに)?(?:特に)?(?:ありません(?:でした)?|見つかりません(?:でした)?|見当たりません(?:でした)?|検出されません(?:でした)?|ございません(?:でした)?|なし|無し|なかったです|ないです|ない)|特にありません|特になし|良好です|\
    (?:문제|이상|결함|오류|버그|지적사항|특이사항|발견사항)(?:점|사항)?(?:가|이|은|는|도|를|을)?(?:전혀)?(?:없습니다|없음|없었습니다|없어요|발견되지않았습니다|발견되지않음|발견하지못했습니다|찾지못했습니다|보이지않습니다)";

/// Parts of words that, in what is left, are a reason to ask.
pub(crate) const DOUBT_CJK: &str = "无法 不 未 没 無法 沒 仅 只 僅 部分 截断 截斷 前半 后半 其余 其餘 剩余 剩餘 但 然而 建议 建議 应 應 需 可能 \
    注意 抱歉 对不起 請 请 失败 失敗 缺 漏 泄 洩 风险 風險 隐患 错误 錯誤 拒绝 拒絕 权限 權限 空的 为空 问题 問題 吗 嗎 ？ ? 如果 硬编码 明文 崩溃 \
    注入 竞态 死锁 除了 跳过 忽略 超时 限制 \
    できな できませ 読めな 読めま 読み込め 見えな 見えま 一部 のみ だけ 途中 切れ 拒否 権限 ただし しかし ですが ますが が、 べき 必要 推奨 可能性 \
    申し訳 ください ない ません なかった 漏れ 危険 脆弱 欠 誤 バグ 不具合 エラー 空です 空で 制限 スキップ 除外 省略 タイムアウト 確認して 思われ \
    없 못 않 일부 만 지만 그러나 하지만 권장 필요 거부 권한 실패 죄송 주세요 누락 취약 오류 버그 제한 비어";

/// Parts of words that hold a sign of [`DOUBT_CJK`] and say nothing.
pub(crate) const NEUTRAL_CJK: &str = "不影响 不影響 不改变 不改變 不变 不會影響 不会影响 没有改变 没有影响 無影響 无影响 只读 应用 應用 對應 对应 响应 需求 不同 \
    影響はありません 影響ありません 変更はありません 影響なし 的問題 錯誤處理 错误处理 エラー処理 注意深く 代码只 必要な 사용 만들 \
    완료했습니다";
