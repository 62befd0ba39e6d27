//! What stands around the command in a pipeline: completions, manual pages, the action's steps, the pre-commit hook.

mod command;

use command::{Ran, ran, root, unbroken};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program, or the reason why it is not tried, printed.
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file());
    if found.is_none() {
        eprintln!("skipped: {name} is not installed");
    }
    found
}

fn binaries() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_unbroken")).parent().expect("the binary lies in a folder").to_owned()
}

fn path_with_binary() -> std::ffi::OsString {
    let rest = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(binaries()).chain(std::env::split_paths(&rest)))
        .expect("plain paths")
}

/// Runs a script in a shell with the completions of that shell in the file `$1`.
fn shell(name: &str, flag: &str, script: &str) -> Option<Ran> {
    let shell = program(name)?;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("completions");
    std::fs::write(&file, unbroken(["completions", name]).out).expect("it can be written");
    let script = script.replace("$FILE", &file.display().to_string());
    Some(ran(Command::new(shell).args([flag, &script]).output().expect("the shell starts")))
}

#[test]
fn bash_completes_commands_and_formats() {
    let script = "source $FILE; COMP_WORDS=(unbroken audit --format h); COMP_CWORD=3; _unbroken unbroken h --format; \
                  echo \"${COMPREPLY[@]}\"; COMP_WORDS=(unbroken a); COMP_CWORD=1; _unbroken unbroken a unbroken; \
                  echo \"${COMPREPLY[@]}\"; complete -p unbroken";
    let Some(ran) = shell("bash", "-c", script) else { return };
    assert!(ran.out.starts_with("human html\naudit"), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("_unbroken"), "{}", ran.out);
}

#[test]
fn zsh_loads_the_completions() {
    let script =
        "autoload -U compinit; compinit -u -D; source $FILE; echo $_comps[unbroken]; whence -w _unbroken";
    let Some(ran) = shell("zsh", "-fc", script) else { return };
    assert_eq!((ran.code, ran.out.trim()), (0, "_unbroken\n_unbroken: function"), "{}", ran.err);
}

#[test]
fn fish_completes_formats() {
    let Some(ran) = shell("fish", "-c", "source $FILE; complete -C 'unbroken audit --format h'") else {
        return;
    };
    let words: Vec<&str> = ran.out.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(words, ["html", "human"], "{}", ran.err);
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let written = unbroken(["man".as_ref(), folder.path().as_os_str()]);
    assert_eq!(written.code, 0, "{}", written.err);
    for name in [
        "unbroken",
        "unbroken-lint",
        "unbroken-audit",
        "unbroken-explain",
        "unbroken-rules",
        "unbroken-baseline",
        "unbroken-baseline-write-lint",
        "unbroken-mapping-guess",
    ] {
        let page = std::fs::read_to_string(folder.path().join(format!("{name}.1"))).expect("it is there");
        assert!(page.contains(&format!(".TH {name} 1 ")) && page.contains(".SH SYNOPSIS"), "{name}");
    }
    assert!(unbroken(["man"]).out.contains("Exit codes"));
    let Some(mandoc) = program("mandoc") else { return };
    for entry in folder.path().read_dir().expect("it was written") {
        let page = entry.expect("an entry").path();
        let read = Command::new(&mandoc).args(["-T", "lint", "-W", "warning"]).arg(&page).output();
        let read = ran(read.expect("mandoc starts"));
        // The same source gives the same bytes on every day, so a page has no date.
        let told = read.out + &read.err;
        let wrong: Vec<&str> = told.lines().filter(|line| !line.contains("missing date")).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

/// The commands of the action's steps, in their order, as the runner finds them.
fn steps() -> Vec<String> {
    let action = std::fs::read_to_string(root().join("action.yml")).expect("the action is shipped");
    action.lines().filter_map(|line| line.trim().strip_prefix("run: ")).map(str::to_owned).collect()
}

/// A runner's machine: the folders and files that its steps are told of.
struct Runner {
    folder: tempfile::TempDir,
    settings: Vec<(&'static str, String)>,
}

impl Runner {
    fn with(settings: &[(&'static str, &str)]) -> Runner {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for file in ["output", "path", "summary"] {
            std::fs::write(folder.path().join(file), "").expect("it can be written");
        }
        let settings = settings.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        Runner { folder, settings }
    }

    fn step(&self, step: &str) -> Ran {
        let at = |name: &str| self.folder.path().join(name);
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", step]).current_dir(root());
        command.env("PATH", path_with_binary()).env("GITHUB_ACTION_PATH", root());
        command.env("RUNNER_TEMP", self.folder.path()).env("GITHUB_OUTPUT", at("output"));
        command.env("GITHUB_PATH", at("path")).env("GITHUB_STEP_SUMMARY", at("summary"));
        command.envs(self.settings.iter().map(|(name, value)| (name, value)));
        ran(command.output().expect("bash starts"))
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).expect("the runner has it")
    }

    fn output(&self, name: &str) -> Option<String> {
        self.file("output").lines().find_map(|line| line.strip_prefix(&format!("{name}=")).map(str::to_owned))
    }
}

const RECORDING: &str = "fixtures/logs/captures/s02d_cut_after_effect__naive-discard__ts1/capture.har.gz";

#[test]
fn the_action_annotates_reports_and_then_fails() {
    let steps = steps();
    assert_eq!(steps.len(), 3, "install, check, result: {steps:?}");
    let runner = Runner::with(&[
        ("UNBROKEN_VERSION", "installed"),
        ("UNBROKEN_COMMAND", "audit"),
        ("UNBROKEN_PATHS", RECORDING),
        ("UNBROKEN_FORMAT", "github"),
        ("UNBROKEN_FAIL_ON", "deny"),
        ("UNBROKEN_SINCE", ""),
        ("UNBROKEN_BASELINE", ""),
    ]);
    let installed = runner.step(&steps[0]);
    assert_eq!(installed.code, 0, "{}{}", installed.out, installed.err);
    let checked = runner.step(&steps[1]);
    assert_eq!(checked.code, 0, "findings must not keep them from being uploaded: {}", checked.err);
    assert!(checked.out.contains("::error file="), "{}", checked.out);
    let sarif = runner.output("sarif").expect("a SARIF file is told");
    assert!(std::fs::read_to_string(sarif).expect("it is there").contains("\"2.1.0\""));
    assert!(runner.file("summary").contains("duplicate-invocation"));
    let code = runner.output("exit-code").expect("the exit code is told");
    assert_eq!(code, "1");
    let judged = Runner::with(&[("UNBROKEN_EXIT_CODE", &code)]).step(&steps[2]);
    assert_eq!(judged.code, 1);
}

#[test]
fn the_action_lets_pass_what_is_less_certain_than_asked_for() {
    let checked = |certainty| {
        let runner = Runner::with(&[
            ("UNBROKEN_COMMAND", "audit"),
            (
                "UNBROKEN_PATHS",
                "fixtures/logs/captures/s02d_cut_after_effect__naive-discard__ts1/nginx-access.jsonl.gz",
            ),
            ("UNBROKEN_MIN_CERTAINTY", certainty),
        ]);
        let checked = runner.step(&steps()[1]);
        assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
        runner.output("exit-code").expect("the exit code is told")
    };
    assert_eq!((checked("likely").as_str(), checked("proved").as_str()), ("1", "0"));
}

#[test]
fn the_action_refuses_what_it_does_not_know() {
    let runner = Runner::with(&[("UNBROKEN_COMMAND", "rm -rf"), ("UNBROKEN_PATHS", ".")]);
    assert_eq!(runner.step(&steps()[1]).code, 2);
    let runner = Runner::with(&[("UNBROKEN_COMMAND", "lint"), ("UNBROKEN_FAIL_ON", "sometimes")]);
    assert_eq!(runner.step(&steps()[1]).code, 0);
    assert_eq!((runner.output("exit-code").as_deref(), runner.output("sarif")), (Some("2"), None));
}

#[test]
fn every_input_of_the_action_reaches_a_step() {
    let action = std::fs::read_to_string(root().join("action.yml")).expect("the action is shipped");
    let inputs = action.split("\ninputs:\n").nth(1).and_then(|rest| rest.split("\noutputs:").next());
    let names =
        inputs.expect("it has inputs").lines().filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'));
    let names: Vec<&str> = names.filter(|name| !name.starts_with(' ')).collect();
    assert!(names.len() >= 7, "{names:?}");
    for name in names {
        assert!(action.contains(&format!("inputs.{name} ")), "{name} is read by nobody");
    }
}

#[test]
fn a_release_is_installed_only_with_its_checksum() {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) || program("curl").is_none() {
        eprintln!("skipped: the release in this test is one for x86_64 Linux, fetched by curl");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pack = root().join(".github/action/pack.sh");
    // As the release workflow does, in a folder that has the files it packs.
    for file in ["LICENSE-APACHE", "LICENSE-MIT", "README.md"] {
        std::fs::copy(root().join(file), folder.path().join(file)).expect("it is shipped");
    }
    let mut packing = Command::new("bash");
    packing.arg(pack).args(["v9.9.9", "x86_64-unknown-linux-gnu"]).arg(binaries()).current_dir(folder.path());
    let packed = ran(packing.output().expect("bash starts"));
    assert_eq!(packed.code, 0, "{}", packed.err);
    let release = folder.path().join("v9.9.9");
    std::fs::create_dir(&release).expect("it is new");
    let name = "unbroken-v9.9.9-x86_64-unknown-linux-gnu.tgz";
    std::fs::rename(folder.path().join("dist").join(name), release.join(name)).expect("it was packed");
    let sums = Command::new("sha256sum").arg(name).current_dir(&release).output().expect("coreutils");
    let decoy = format!("{:064} another-{name}\n", 0);
    std::fs::write(release.join("SHA256SUMS"), decoy + &ran(sums).out).expect("it can be written");
    let releases = format!("file://{}", folder.path().display());
    let settings = [("UNBROKEN_VERSION", "9.9.9"), ("UNBROKEN_RELEASES", releases.as_str())];
    let runner = Runner::with(&settings);
    let installed = runner.step(&steps()[0]);
    assert_eq!(installed.code, 0, "{}{}", installed.out, installed.err);
    assert!(Path::new(runner.file("path").trim()).join("unbroken").is_file());
    let mut bytes = std::fs::read(release.join(name)).expect("it is there");
    bytes.push(0);
    std::fs::write(release.join(name), bytes).expect("it can be written");
    let refused = Runner::with(&settings).step(&steps()[0]);
    assert_eq!(refused.code, 2, "{}", refused.out);
}

/// What `cargo binstall` fetches is what a release packs: the archive's name, and every program in its place.
#[test]
fn binstall_finds_what_a_release_packs() {
    let manifest = std::fs::read_to_string(root().join("cli/Cargo.toml")).expect("it is shipped");
    let setting = |name: &str| {
        let line = manifest.lines().find_map(|line| line.strip_prefix(&format!("{name} = \"")));
        let value = line.and_then(|line| line.strip_suffix('"')).unwrap_or_else(|| panic!("no {name}"));
        let filled =
            [("version", "9.9.9"), ("target", "some-target"), ("archive-suffix", ".tgz"), ("binary-ext", "")];
        filled.iter().fold(value.to_owned(), |text, (key, with)| text.replace(&format!("{{ {key} }}"), with))
    };
    assert_eq!(setting("pkg-fmt"), "tgz");
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in ["LICENSE-APACHE", "LICENSE-MIT", "README.md"] {
        std::fs::copy(root().join(file), folder.path().join(file)).expect("it is shipped");
    }
    let mut packing = Command::new("bash");
    packing.arg(root().join(".github/action/pack.sh")).args(["v9.9.9", "some-target"]).arg(binaries());
    let packed = ran(packing.current_dir(folder.path()).output().expect("bash starts"));
    assert_eq!(packed.code, 0, "{}", packed.err);
    let url = setting("pkg-url");
    let (release, name) = url.rsplit_once('/').expect("an address has a file");
    assert!(release.ends_with("/releases/download/v9.9.9"), "{url}");
    let archive = folder.path().join("dist").join(name);
    let listed = ran(Command::new("tar").arg("-tzf").arg(&archive).output().expect("tar starts"));
    assert_eq!(listed.code, 0, "{}: {}", archive.display(), listed.err);
    for bin in ["unbroken", "cargo-unbroken"] {
        let place = setting("bin-dir").replace("{ bin }", bin);
        assert!(listed.out.lines().any(|line| line == place), "no {place} in\n{}", listed.out);
    }
}

#[test]
fn the_hook_stops_a_commit() {
    let (Some(pre_commit), Some(git)) = (program("pre-commit"), program("git")) else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (hooks, project) = (folder.path().join("hooks"), folder.path().join("project"));
    for repository in [&hooks, &project] {
        std::fs::create_dir_all(repository.join("src")).expect("it is new");
        assert!(
            Command::new(&git).args(["init", "-q"]).current_dir(repository).status().expect("git").success()
        );
    }
    let copy = |from: &str, to: PathBuf| std::fs::copy(root().join(from), to).expect("it is shipped");
    copy(".pre-commit-hooks.yaml", hooks.join(".pre-commit-hooks.yaml"));
    for file in ["Cargo.toml", "src/lib.rs", "src/listen.rs", "src/send.rs"] {
        copy(&format!("fixtures/clients/naive/{file}"), project.join(file));
    }
    let record = |repository: &Path| {
        for arguments in [
            &["add", "."][..],
            &["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "t"][..],
        ] {
            assert!(
                Command::new(&git).args(arguments).current_dir(repository).status().expect("git").success()
            );
        }
    };
    record(&hooks);
    record(&project);
    let mut hook = Command::new(pre_commit);
    hook.args(["try-repo", &hooks.display().to_string(), "unbroken", "--all-files"]).current_dir(&project);
    hook.env("PATH", path_with_binary()).env("PRE_COMMIT_HOME", folder.path().join("home"));
    let ran = ran(hook.output().expect("pre-commit starts"));
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("deny "), "{}", ran.out);
}
