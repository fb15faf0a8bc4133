//! `--max-line` limits memory for any input.

use crate::common::{dedup, line_said};

#[test]
fn a_line_at_the_limit_passes_and_one_beyond_is_2() {
    for limit in [1_usize, 10, 300_000] {
        let fits = vec![b'a'; limit];
        let long = vec![b'b'; limit + 1];
        let input = [&fits[..], b"\n", &fits, b"\n", &long, b"\nc\n"].concat();
        for threads in ["1", "4"] {
            let limit = limit.to_string();
            let output = dedup(&["--max-line", &limit, "--threads", threads])
                .write_stdin(input.clone())
                .assert()
                .code(2)
                .stdout([&fits[..], b"\n"].concat());
            let text = line_said(&output);
            assert!(text.contains("standard input, line 3") && text.contains("--max-line"));
        }
    }
}

#[test]
fn the_length_of_a_line_does_not_include_its_separator() {
    dedup(&["--max-line", "3"]).write_stdin("abc\nabd").assert().success().stdout("abc\nabd\n");
    dedup(&["--max-line", "3"]).write_stdin("abc\nabcd").assert().code(2).stdout("abc\n");
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::io::{BufRead, BufReader, BufWriter, Read, Write};
    use std::process::Stdio;
    use std::sync::{Arc, Mutex};
    use std::thread;
    use std::time::Duration;

    use crate::common::{by_shell, program};

    /// Without a limit on memory, the limit on the address space would end the program with another
    /// exit code.
    #[test]
    fn an_endless_line_is_2_in_little_memory() {
        let output = by_shell("ulimit -v 1000000")
            .args(["dedup", "--max-line", "1MiB", "--threads", "4", "/dev/zero"])
            .output()
            .expect("it runs");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("/dev/zero, line 1") && text.contains("1,048,576"), "{text}");
        assert!(output.stdout.is_empty());
    }

    /// While nothing reads the output, the first giant line stays in memory, and the second must
    /// wait.
    #[test]
    fn only_one_giant_line_is_in_memory_at_a_time() {
        const GIANT: usize = 40_000_000;
        let mut child = program()
            .args(["dedup", "--quiet", "--threads", "4"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it runs");
        let status = format!("/proc/{}/status", child.id());
        let mut input = child.stdin.take().expect("piped");
        let writer = thread::spawn(move || {
            for byte in b"abcd" {
                let mut line = vec![*byte; GIANT];
                line.push(b'\n');
                input.write_all(&line).expect("it reads");
            }
        });
        let mut peak: usize = 0;
        // For the time in which a second line would be read, and until the first has been.
        for look in 0..600 {
            if look >= 15 && peak > 40_000 {
                break;
            }
            thread::sleep(Duration::from_millis(100));
            let status = fs::read_to_string(&status).expect("it runs");
            let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a line");
            peak = line.split_whitespace().nth(1).expect("a number").parse().expect("a number");
        }
        let mut output = Vec::new();
        child.stdout.take().expect("piped").read_to_end(&mut output).expect("it writes");
        writer.join().expect("all was read");
        assert!(child.wait().expect("it ends").success());
        assert_eq!(output.len(), 4 * (GIANT + 1));
        assert!(peak > 40_000, "{peak} KiB: the first line has not been read");
        assert!(peak < 65_000, "{peak} KiB: a second line has been read");
    }

    /// Without options, at any number of lines, the peak is at most 100 bits per distinct line and
    /// 2.5 MiB for all else. The pages of the program's file are not counted: how many of them are
    /// in memory depends on the build, and on what the system reads ahead.
    ///
    /// MEASURED: all else takes 1.7 to 2.1 MiB in twelve runs, without the 5.7 to 6.0 MiB of the
    /// file that are in memory with all features (Zen 4).
    #[test]
    fn memory_grows_with_the_lines() {
        const LINES: u64 = 2_500_000;
        let mut child = program()
            .args(["dedup", "--quiet", "--threads", "2"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it runs");
        let status = format!("/proc/{}/status", child.id());
        let mut input = BufWriter::new(child.stdin.take().expect("piped"));
        // How many lines the program may have read: each is counted before it is written.
        let given = Arc::new(Mutex::new(0_usize));
        let count = Arc::clone(&given);
        let writer = thread::spawn(move || {
            for line in 0..LINES {
                *count.lock().expect("no thread has panicked") += 1;
                writeln!(input, "{line}").expect("it reads");
            }
        });
        let mut output = BufReader::with_capacity(1 << 16, child.stdout.take().expect("piped"));
        let (mut printed, mut checked, mut most_of_file) = (0, 0, 0);
        loop {
            let bytes = output.fill_buf().expect("it writes");
            if bytes.is_empty() {
                break;
            }
            printed += bytes.iter().filter(|&&byte| byte == b'\n').count();
            let length = bytes.len();
            output.consume(length);
            // Look at the peak after each twentieth line more.
            if printed > checked + checked / 20 {
                checked = printed;
                // At the end of the output the process may be gone.
                let status = fs::read_to_string(&status).unwrap_or_default();
                let value = |name: &str| -> Option<usize> {
                    let line = status.lines().find(|line| line.starts_with(name))?;
                    Some(line.split_whitespace().nth(1)?.parse().expect("a number"))
                };
                let (Some(all), Some(file)) = (value("VmHWM:"), value("RssFile:")) else {
                    continue;
                };
                // The system may take pages of the file away after the peak.
                most_of_file = file.max(most_of_file);
                let peak = all - most_of_file;
                // Not `printed`: the program has decided lines that this test has not read yet.
                let given = *given.lock().expect("no thread has panicked");
                let most = given / 8 * 100 + (5 << 19);
                assert!(peak * 1024 < most, "{peak} KiB at {given} lines");
            }
        }
        writer.join().expect("all was read");
        assert!(child.wait().expect("it ends").success());
        assert_eq!(printed as u64, LINES);
    }
}
