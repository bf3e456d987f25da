//! Tests the database file: opening, permissions, damaged files and files of other programs.

use super::*;

#[test]
fn reading_creates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_for(folder.path(), "abc");
    assert!(Journal::open_read(&path).unwrap().is_none());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, b"").unwrap();
    assert!(Journal::open_read(&path).unwrap().is_none());
    assert_eq!(fs::read(&path).unwrap(), b"");
}

#[cfg(unix)]
#[test]
fn files_and_folders_are_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_folder, path, mut journal) = fresh();
    let run = sample(&mut journal);
    let transcripts = journal.transcripts(&run).unwrap();
    assert_eq!(
        transcripts,
        fs::canonicalize(path.parent().unwrap())
            .unwrap()
            .join("runs")
            .join(&run.0)
    );
    let modes = [
        path.as_path(),
        path.parent().unwrap(),
        &transcripts,
        transcripts.parent().unwrap(),
    ]
    .map(|path| fs::metadata(path).unwrap().permissions().mode() & 0o777);
    assert_eq!(modes, [0o600, 0o700, 0o700, 0o700]);
    let hostile = journal.transcripts(&RunId("../../x".to_owned())).unwrap();
    assert_eq!(hostile.parent(), transcripts.parent());
}

#[cfg(unix)]
#[test]
fn a_link_or_a_folder_is_no_history() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("target");
    fs::write(&target, b"").unwrap();
    let link = folder.path().join("history.db");
    std::os::unix::fs::symlink(&target, &link).unwrap();
    for path in [&link, &folder.path().to_owned()] {
        assert!(matches!(
            Journal::open(path),
            Err(JournalError::NotAFile { .. })
        ));
        assert!(matches!(
            Journal::open_read(path),
            Err(JournalError::NotAFile { .. })
        ));
    }
    assert_eq!(fs::read(&target).unwrap(), b"");
}

#[test]
fn a_history_of_another_build_is_named_as_one() {
    let (_folder, path, mut journal) = fresh();
    sample(&mut journal);
    drop(journal);
    let db = Connection::open(&path).unwrap();
    db.execute_batch("ALTER TABLE run RENAME TO former")
        .unwrap();
    drop(db);
    let journal = Journal::open_read(&path).unwrap().unwrap();
    let error = journal.runs(None).unwrap_err();
    let text = error.to_string();
    assert!(
        matches!(error, JournalError::OtherBuild { .. }),
        "{error:?}"
    );
    assert!(
        text.ends_with("was made by another build of Glee"),
        "{text}"
    );
    let hint = error.hint().unwrap();
    assert!(
        hint.starts_with("move `") && !hint.contains("disk"),
        "{hint}"
    );
    // SQLite gives damaged JSON in a row the code of a missing table.
    let connection = Connection::open_in_memory().unwrap();
    let damaged = connection
        .query_row("SELECT '{' ->> '$.a'", [], |row| row.get::<_, String>(0))
        .unwrap_err();
    let error = crate::history::open::fault(&path, damaged);
    assert!(
        !matches!(error, JournalError::OtherBuild { .. }),
        "{error:?}"
    );
}

#[test]
fn a_newer_or_foreign_database_is_left_alone() {
    let (_folder, path, journal) = fresh();
    drop(journal);
    Connection::open(&path)
        .unwrap()
        .pragma_update(None, "user_version", 99)
        .unwrap();
    let error = Journal::open(&path).unwrap_err();
    assert!(
        matches!(
            error,
            JournalError::Newer {
                found: 99,
                known: 1,
                ..
            }
        ),
        "{error}"
    );
    assert!(matches!(
        Journal::open_read(&path),
        Err(JournalError::Newer { .. })
    ));
    assert_eq!(error.exit(), ExitReason::History);

    let other = path.with_file_name("other.db");
    Connection::open(&other)
        .unwrap()
        .execute_batch("CREATE TABLE event (a)")
        .unwrap();
    let before = fs::read(&other).unwrap();
    assert!(matches!(
        Journal::open(&other),
        Err(JournalError::Foreign { .. })
    ));
    assert!(matches!(
        Journal::open_read(&other),
        Err(JournalError::Foreign { .. })
    ));
    assert_eq!(fs::read(&other).unwrap(), before);
}

#[test]
fn what_is_no_database_is_named_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let garbage =
        b"this is no database at all, only a text that is long enough to be taken for one"
            .repeat(20);
    fs::write(&path, &garbage).unwrap();
    let error = Journal::open(&path).unwrap_err();
    assert!(matches!(error, JournalError::Damaged { .. }), "{error}");
    assert_eq!(error.exit(), ExitReason::History);
    assert!(error.to_string().contains("history.db"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), garbage);
}

#[test]
fn the_good_part_of_a_torn_history_is_shown() {
    let (_folder, path, mut journal) = fresh();
    for number in 1..=40 {
        let run = run(&number.to_string());
        journal.append(&run, started("x")).unwrap();
        journal
            .open_dispute(
                &run,
                finding(number, Tag::Must, &["codex"]),
                objection(number),
            )
            .unwrap();
    }
    drop(journal);
    let whole = fs::read(&path).unwrap();
    let torn = &whole[..whole.len() / 4 * 3];
    fs::write(&path, torn).unwrap();

    assert!(matches!(
        Journal::open(&path),
        Err(JournalError::Damaged { .. })
    ));
    let journal = Journal::open_read(&path);
    assert!(
        matches!(journal, Err(JournalError::Damaged { .. })),
        "{journal:?}"
    );
    let part = Journal::open_damaged(&path).unwrap();
    let shown = numbers(&part, DisputeFilter::default());
    assert!(!shown.is_empty() && shown.len() < 40, "{shown:?}");
    assert_eq!(fs::read(&path).unwrap(), torn);
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_is_read_all_the_same() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_folder, path, mut journal) = fresh();
    sample(&mut journal);
    drop(journal);
    let folder = path.parent().unwrap();
    let allow = |mode| fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
    allow(0o500);
    let reader = Journal::open_read(&path);
    let shown = reader.map(|journal| numbers(&journal.unwrap(), DisputeFilter::default()));
    allow(0o700);
    assert_eq!(shown.unwrap(), [4, 3, 2, 1]);
}

#[test]
fn a_history_that_lost_its_records_is_damaged_and_is_not_begun_anew() {
    type Damage = fn(&Path);
    let empty: Damage = |path| fs::write(path, b"").unwrap();
    let missing: Damage = |path| fs::remove_file(path).unwrap();
    let torn: Damage = |path| {
        let bytes = fs::read(path).unwrap();
        fs::write(path, &bytes[..bytes.len() / 3]).unwrap();
    };
    let versionless: Damage = |path| {
        let db = Connection::open(path).unwrap();
        db.pragma_update(None, "user_version", 0).unwrap();
    };
    for (name, damage) in [
        ("empty", empty),
        ("missing", missing),
        ("torn", torn),
        ("versionless", versionless),
    ] {
        for has_ruling in [false, true] {
            let (_folder, path, mut journal) = fresh();
            if has_ruling {
                sample(&mut journal);
            } else {
                journal.append(&run("1"), started("src/")).unwrap();
            }
            journal.transcripts(&run("1")).unwrap();
            let copy = path.with_file_name("history.db.backup");
            assert_eq!(copy.exists(), has_ruling, "{name}");
            let records = journal.verify().unwrap().records;
            drop(journal);
            damage(&path);
            let left = fs::read(&path).ok();
            for error in [
                Journal::open(&path).unwrap_err(),
                Journal::open_read(&path).unwrap_err(),
            ] {
                assert!(
                    matches!(error, JournalError::Damaged { .. }),
                    "{name} {error}"
                );
                assert_eq!(error.exit(), ExitReason::History);
                let hint = error.hint().unwrap();
                assert_eq!(hint.contains("history.db.backup"), copy.exists(), "{hint}");
            }
            assert_eq!(fs::read(&path).ok(), left, "{name}");
            if copy.exists() {
                fs::copy(&copy, &path).unwrap();
                for log in ["-wal", "-shm"] {
                    drop(fs::remove_file(format!("{}{log}", path.display())));
                }
                let restored = Journal::open(&path).unwrap();
                assert_eq!(restored.verify().unwrap().records, records, "{name}");
            }
        }
    }
}

#[test]
fn a_ruling_of_a_person_is_in_the_copy_at_once() {
    let (_folder, path, mut journal) = fresh();
    sample(&mut journal);
    let copy = path.with_file_name("history.db.backup");
    let records = || {
        let copied = Journal::open_read(&copy).unwrap().unwrap();
        copied.verify().unwrap().records
    };
    let before = records();
    let open = DisputeFilter {
        open_only: true,
        ..DisputeFilter::default()
    };
    let number = DisputeNumber(numbers(&journal, open)[0]);
    journal
        .resolve(number, GivenRuling::new(Disposition::Refuted, "no"))
        .unwrap();
    assert_eq!(records(), before + 2);
    journal.reopen(number, "in doubt".to_owned()).unwrap();
    assert_eq!(records(), before + 3);
    journal.append(&run("2"), started("x")).unwrap();
    assert_eq!(records(), before + 3);
}
