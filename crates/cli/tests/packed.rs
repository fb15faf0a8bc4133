//! `-o FILE.gz` and `-o FILE.zst`: compressed records that the usual tools and this program read
//! back.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{Files, by_shell, dedup, exact, homepages, program};

/// The tools that check and read each format. They share no code with this program.
const TOOLS: [(&str, &str); 2] = [("gz", "gzip"), ("zst", "zstd")];

/// Returns the records of a compressed file, as the tool of the format reads them after a check;
/// or, without the tool, as this program does.
fn unpacked(tool: &str, file: &Path) -> Vec<u8> {
    let run = |option: &str| Command::new(tool).args([option, "-q"]).arg(file).output();
    let Ok(tested) = run("-t") else {
        eprintln!("SKIPPED: {tool} is not installed");
        let output = dedup(&[]).arg(file).assert().success();
        return output.get_output().stdout.clone();
    };
    assert!(tested.status.success(), "{tool} -t: {tested:?}");
    run("-dc").expect("it runs").stdout
}

#[test]
fn compressed_output_is_read_by_the_tools_and_by_this_program() {
    let files = Files::new();
    let list = fs::read(homepages()).expect("the list");
    // Bytes that cannot be compressed, longer than a frame, and a record longer than a frame.
    let mut state = 1_u64;
    let noise = (0..1_500_000).map(|_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 56) as u8
    });
    let noise: Vec<u8> = noise.chain(*b"\n").collect();
    let giant = [&vec![b'a'; 3 << 20][..], b"\nb\n"].concat();
    for (number, input) in
        [&b""[..], b"\n", b"a", b"a\nb\na\n", &list, &noise, &giant].iter().enumerate()
    {
        files.write("in", input);
        for (extension, tool) in TOOLS {
            for threads in ["1", "4"] {
                let out = format!("out.{extension}");
                files.run(&["dedup", "-q", "-j", threads, "in", "-o", &out]);
                let out = files.path(&out);
                assert!(unpacked(tool, &out) == exact(&[input]), "{number} {tool}");
                // This program reads it.
                let output = dedup(&[]).arg(&out).assert().success();
                assert!(output.get_output().stdout == exact(&[input]), "{number} {tool}");
            }
        }
    }
    // It is smaller, and the same in every run.
    files.write("in", &list);
    for (extension, _) in TOOLS {
        let out = format!("out.{extension}");
        let packed = |threads: &str| {
            files.run(&["dedup", "-q", "-j", threads, "in", "-o", &out]);
            fs::read(files.path(&out)).expect("written")
        };
        let first = packed("1");
        assert!(first.len() < exact(&[&list]).len() / 2, "{extension}: {}", first.len());
        assert!(first == packed("4"), "{extension}");
    }
}

#[test]
fn new_and_query_compress_too() {
    let files = Files::new();
    files.write("in", "a\nb\n");
    for (extension, tool) in TOOLS {
        let (filter, out) = (format!("F-{extension}"), format!("out.{extension}"));
        files.run(&["new", "-q", &filter, "in", "-o", &out]);
        assert_eq!(unpacked(tool, &files.path(&out)), b"a\nb\n");
        files.run(&["query", "-q", &filter, "in", "-o", &out]);
        assert_eq!(unpacked(tool, &files.path(&out)), b"a\nb\n");
        // Nothing is new: the file is that of no records.
        files.run(&["new", "-q", &filter, "in", "-o", &out]);
        assert_eq!(unpacked(tool, &files.path(&out)), b"");
        assert!(fs::metadata(files.path(&out)).expect("written").len() > 0);
    }
}

#[test]
fn a_compressed_file_may_be_input_and_output() {
    let files = Files::new();
    let list = fs::read(homepages()).expect("the list");
    files.write("in", [&list[..], &list[..]].concat());
    for (extension, tool) in TOOLS {
        let name = format!("in.{extension}");
        files.run(&["dedup", "-q", "in", "-o", &name]);
        files.run(&["dedup", "-q", &name, &name, "-o", &name]);
        assert!(unpacked(tool, &files.path(&name)) == exact(&[&list]), "{name}");
    }
}

/// The name of a link does not matter: the file that is replaced keeps what its name promises.
#[cfg(unix)]
#[test]
fn a_link_to_a_compressed_file_is_written_through() {
    use std::os::unix::fs::symlink;
    let files = Files::new();
    files.write("in", "a\na\n");
    files.write("target.gz", "");
    symlink("target.gz", files.path("link")).expect("made");
    files.run(&["dedup", "-q", "in", "-o", "link"]);
    assert_eq!(unpacked("gzip", &files.path("target.gz")), b"a\n");
    assert!(files.path("link").is_symlink());
}

/// Standard output is written as it is, whatever the shell calls it.
#[test]
fn standard_output_is_not_compressed() {
    let files = Files::new();
    let out = fs::File::create(files.path("out.gz")).expect("made");
    let mut command = program();
    command.args(["dedup", "-q", "-o", "-"]).current_dir(&files.0).stdin(Stdio::null()).stdout(out);
    assert!(command.status().expect("it runs").success());
    assert_eq!(fs::read(files.path("out.gz")).expect("there"), b"");
}

/// A filter under such a name would be taken for compressed records.
#[test]
fn filters_are_not_compressed() {
    let files = Files::new();
    files.write("in", "a\n");
    files.run(&["build", "-q", "-o", "F", "in"]);
    files.write("F.gz", fs::read(files.path("F")).expect("saved"));
    for args in [
        &["build", "-o", "G.gz", "in"][..],
        &["new", "G.zst", "in"],
        &["merge", "-o", "G.gz", "F", "F"],
        &["index", "-o", "G.gz", "in"],
        &["convert", "-o", "G.gz", "F", "--to", "tamis"],
    ] {
        let text = files.refused(2, args);
        assert!(text.contains("a filter is not compressed"), "{text}");
        assert!(!files.path("G.gz").exists() && !files.path("G.zst").exists(), "{args:?}");
    }
    // It is recognised by its contents.
    assert_eq!(files.run(&["query", "-q", "F.gz", "in"]).0, "a\n");
}

/// If the disk is full at any moment, also when the stream is finished, the old file stays, and
/// `new` saves nothing.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_old_file() {
    let files = Files::new();
    files.write("none", "");
    files.run(&["build", "-q", "-o", "EMPTY", "none"]);
    let lines: String =
        (0..300_000_u64).map(|n| format!("{:x}\n", n.wrapping_mul(n) % 99_991)).collect();
    files.write("in", &lines);
    for (extension, _) in TOOLS {
        let out = format!("out.{extension}");
        files.write(&out, "old");
        // From nothing at all to a part of the first writes, in blocks of 512 bytes.
        for blocks in ["0", "1", "16", "128"] {
            for command in
                [&["dedup", "-q"][..], &["new", "-q", "FILTER"], &["query", "-q", "-v", "EMPTY"]]
            {
                let output = by_shell(&format!("trap '' XFSZ; ulimit -f {blocks}"))
                    .args(command)
                    .args(["in", "-o", &out])
                    .current_dir(&files.0)
                    .output()
                    .expect("it runs");
                let text = String::from_utf8_lossy(&output.stderr).into_owned();
                assert_eq!(output.status.code(), Some(1), "{blocks} {command:?}: {text}");
                assert!(text.contains("cannot write the output"), "{text}");
                assert_eq!(
                    fs::read(files.path(&out)).expect("there"),
                    b"old",
                    "{blocks} {command:?}"
                );
                assert!(!files.path("FILTER").exists(), "{blocks}");
            }
        }
    }
}

/// A pipe of such a name is compressed as a file is: also the records before an error, and those
/// before a save.
#[cfg(unix)]
#[test]
fn a_named_pipe_is_compressed() {
    let files = Files::new();
    files.write("good", "a\nb\na\n");
    files.write("bad", "a\nb\nlonger\n");
    for (extension, tool) in TOOLS {
        let pipe = files.path(&format!("pipe.{extension}"));
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("it runs").success());
        for (args, code, expected) in [
            (&["dedup", "-q", "good"][..], 0, "a\nb\n"),
            (&["dedup", "-q", "--max-line", "3", "bad"], 2, "a\nb\n"),
            (&["new", "-q", "--max-line", "3", &format!("F-{extension}"), "bad"], 2, "a\nb\n"),
            (&["new", "-q", &format!("F-{extension}"), "bad"], 0, "longer\n"),
        ] {
            let mut command = program();
            command.args(args).arg("-o").arg(&pipe).current_dir(&files.0).stderr(Stdio::null());
            let mut child = command.spawn().expect("it runs");
            let reader = fs::File::open(&pipe).expect("a pipe");
            let read = Command::new(tool).args(["-dc", "-q"]).stdin(reader).output();
            assert_eq!(child.wait().expect("it ends").code(), Some(code), "{args:?}");
            let Ok(read) = read else {
                eprintln!("SKIPPED: {tool} is not installed");
                continue;
            };
            assert!(read.status.success(), "{args:?}: {read:?}");
            assert_eq!(String::from_utf8_lossy(&read.stdout), expected, "{args:?}");
        }
    }
}

/// A signal saves the filter after the records that it has went into the pipe, not only into the
/// encoder.
#[cfg(unix)]
#[test]
fn a_signal_saves_what_the_pipe_has() {
    use std::io::{Read, Write};
    let files = Files::new();
    files.write("in", "a\nb\n");
    for (extension, tool) in TOOLS {
        let (pipe, filter) = (files.path(&format!("pipe.{extension}")), format!("F-{extension}"));
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("it runs").success());
        let mut command = program();
        command.args(["new", "-q", &filter, "-o"]).arg(&pipe).current_dir(&files.0);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("it runs");
        let mut input = child.stdin.take().expect("piped");
        let mut reader = fs::File::open(&pipe).expect("a pipe");
        // It is read all the time: after a second without a read the signal would not save.
        let read = std::thread::spawn(move || {
            let mut packed = Vec::new();
            reader.read_to_end(&mut packed).map(|_| packed)
        });
        input.write_all(b"a\nb\n").expect("it reads");
        // Long enough for it to read them. If it does not, it saves and prints nothing.
        std::thread::sleep(core::time::Duration::from_millis(500));
        let kill = Command::new("kill").arg(child.id().to_string()).status();
        assert!(kill.expect("it runs").success());
        let packed = read.join().expect("no panic").expect("read");
        child.wait().expect("it ends");
        drop(input);
        let out = files.write(&format!("out.{extension}"), &packed);
        let mut printed = if packed.is_empty() { Vec::new() } else { unpacked(tool, &out) };
        printed.extend(files.run(&["new", "-q", &filter, "in"]).0.bytes());
        assert_eq!(printed, b"a\nb\n", "{tool}");
    }
}
