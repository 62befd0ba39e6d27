//! All known formats: the shipped mapping files and those a user gives.
//! Knows which few formats are read by code; everything else is data.

use super::detect::{Detector, Verdict};
use super::haproxy::Haproxy;
use super::har::Capture;
use super::nginx::Nginx;
use super::rpc::Keep;
use super::tshark::Packets;
use super::wire::Wire;
use super::{Adapter, Reader, RecordProblem};
use crate::event::Event;
use crate::mapping::{self, MappingError, Plan, file};
use crate::source::Record;
use std::sync::{Arc, OnceLock};

macro_rules! shipped {
    ($($name:literal),* $(,)?) => { &[$(($name, include_str!(concat!("../../mappings/", $name, ".toml")))),*] };
}

/// The shipped mapping files, by name.
pub const SHIPPED: &[(&str, &str)] = shipped![
    "agentgateway",
    "agentgateway-text",
    "app-client",
    "app-server",
    "aws-agentcore",
    "aws-alb",
    "aws-alb-json",
    "aws-api-gateway",
    "aws-cloudfront",
    "azure-apim",
    "azure-apim-gateway",
    "caddy-access",
    "caddy-console",
    "caddy-run",
    "cloudflare-http",
    "cloudflare-portal",
    "contextforge",
    "docker-mcp-gateway",
    "dotnet",
    "edge-jsonl",
    "envoy",
    "envoy-ai-gateway",
    "envoy-ai-gateway-log",
    "envoy-text",
    "fastmcp",
    "gcp-lb",
    "haproxy-json",
    "haproxy-text",
    "har",
    "inspector-network",
    "inspector-protocol",
    "java",
    "kong",
    "ledger",
    "litellm",
    "nginx-error",
    "nginx-json",
    "nginx-text",
    "otlp-dotnet-span",
    "otlp-http-span",
    "otlp-mcp-client-span",
    "otlp-mcp-exchange-log",
    "otlp-mcp-log",
    "otlp-mcp-span",
    "otlp-other",
    "pino-http",
    "program-log",
    "python-sdk",
    "rmcp",
    "teleport",
    "traefik",
    "traefik-clf",
    "tshark",
    "unbroken",
    "uvicorn",
    "w3c",
    "winston",
    "wire",
];

/// A user's mapping goes before any shipped one.
const USER_PRIORITY: i32 = 1000;

/// The known formats.
pub struct Formats {
    detector: Detector,
    formats: Vec<Format>,
}

/// One format.
pub struct Format {
    /// Its name.
    pub name: String,
    /// What it is.
    pub about: String,
    /// Recognised and left alone, for this reason.
    pub skip: Option<String>,
    kind: Kind,
}

enum Kind {
    Plan(Box<Mapped>),
    Nginx,
    Haproxy,
    Har,
    Wire,
    Packets,
    None,
}

/// A mapping file, made ready when a log first needs it: most runs need one of them.
struct Mapped {
    file: file::File,
    plan: OnceLock<Arc<Plan>>,
}

impl Mapped {
    fn plan(&self) -> &Arc<Plan> {
        let compile =
            || Arc::new(Plan::compile(&self.file).expect("shipped mapping files are held by a test"));
        self.plan.get_or_init(compile)
    }
}

/// A format's reader for one file.
pub enum FileReader {
    /// Each record for itself.
    Each(Box<dyn Adapter>),
    /// Each record for itself, by a mapping.
    Plan(Arc<Plan>),
    /// One after the other.
    Ordered(Box<dyn Reader + Sync>),
    /// Not read.
    Nothing,
}

impl std::fmt::Debug for Formats {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.formats.iter().map(|format| &format.name)).finish()
    }
}

impl Formats {
    /// The shipped formats and `users`: mapping files as (path, text).
    ///
    /// # Errors
    /// The path of the file that cannot be used, and why.
    pub fn load(users: &[(String, String)]) -> Result<Self, (String, MappingError)> {
        let mut files = Vec::new();
        for (name, text) in SHIPPED {
            files.push(mapping::parse(text).map_err(|e| ((*name).to_owned(), e))?);
        }
        for (path, text) in users {
            let mut file = mapping::parse(text).map_err(|e| (path.clone(), e))?;
            file.detect.priority += USER_PRIORITY;
            files.push(file);
        }
        let detector = Detector::compile(&files).map_err(|e| ("detect".to_owned(), e))?;
        let mut formats = Vec::new();
        for (at, file) in files.into_iter().enumerate() {
            let name = file.name.clone();
            let plan = OnceLock::new();
            // A user's file may be wrong, which is told before anything is read.
            if at >= SHIPPED.len() {
                let fault = |e| (name.clone(), e);
                file.input.pattern.as_deref().map(mapping::expression).transpose().map_err(fault)?;
                if is_mapped(&file) {
                    let compiled = Plan::compile(&file).map_err(fault)?;
                    plan.get_or_init(|| Arc::new(compiled));
                }
            }
            formats.push(format(file, plan).map_err(|e| (name, e))?);
        }
        Ok(Formats { detector, formats })
    }

    /// The format of a record, by its index.
    pub fn tell(&self, record: &[u8]) -> Verdict {
        self.detector.tell(record)
    }

    /// Formats that come near, with what is missing.
    pub fn nearest(&self, record: &[u8]) -> Vec<(&str, &str)> {
        self.detector.nearest(record)
    }

    /// A format by its index.
    pub fn get(&self, index: usize) -> &Format {
        &self.formats[index]
    }

    /// All formats.
    pub fn all(&self) -> &[Format] {
        &self.formats
    }
}

/// Whether the mapping file itself says how a record is read.
fn is_mapped(file: &file::File) -> bool {
    file.reader.is_none() && file.detect.skip.is_none()
}

fn format(file: file::File, plan: OnceLock<Arc<Plan>>) -> Result<Format, MappingError> {
    let (name, about, skip) = (file.name.clone(), file.about.clone(), file.detect.skip.clone());
    let kind = match file.reader.as_deref() {
        None if is_mapped(&file) => Kind::Plan(Box::new(Mapped { file, plan })),
        None => Kind::None,
        Some("nginx") => Kind::Nginx,
        Some("haproxy") => Kind::Haproxy,
        Some("har") => Kind::Har,
        Some("wire") => Kind::Wire,
        Some("tshark") => Kind::Packets,
        Some(other) => {
            return Err(MappingError::value("reader", other, "nginx, haproxy, har, wire or tshark"));
        }
    };
    Ok(Format { name, about, skip, kind })
}

impl Format {
    /// A reader for one file; `preface` is what stands before a document's records.
    pub fn reader(&self, preface: &[u8], keep: Keep) -> FileReader {
        match &self.kind {
            Kind::Plan(mapped) => FileReader::Plan(mapped.plan().clone()),
            Kind::Nginx => FileReader::Each(Box::new(Nginx)),
            Kind::Haproxy => FileReader::Each(Box::new(Haproxy)),
            Kind::Har => FileReader::Ordered(Box::new(Capture::of_preface(preface, keep))),
            Kind::Wire => FileReader::Ordered(Box::new(Wire::new(keep))),
            Kind::Packets => FileReader::Ordered(Box::new(Packets::new(keep))),
            Kind::None => FileReader::Nothing,
        }
    }

    /// The mapping, where the format is one.
    pub fn plan(&self) -> Option<&Plan> {
        match &self.kind {
            Kind::Plan(mapped) => Some(mapped.plan()),
            _ => None,
        }
    }
}

impl FileReader {
    /// The name shown: the dialect's, where the reader knows better.
    pub fn name<'a>(&self, format: &'a Format) -> &'a str {
        match self {
            FileReader::Each(adapter) => adapter.name(),
            FileReader::Ordered(reader) => reader.name().unwrap_or(&format.name),
            _ => &format.name,
        }
    }

    /// Reads a record of a format whose records stand alone.
    ///
    /// # Errors
    /// As [`Adapter::read`].
    pub fn read_alone(
        &self,
        record: Record<'_>,
        keep: Keep,
        sink: &mut dyn FnMut(Event),
    ) -> Result<(), RecordProblem> {
        match self {
            FileReader::Each(adapter) => adapter.read(record, keep, sink),
            FileReader::Plan(plan) => plan.read(&record, keep, sink),
            FileReader::Ordered(_) | FileReader::Nothing => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_mapping_file_can_be_used() {
        let formats = Formats::load(&[]).expect("shipped files are mapping files");
        let plans = formats.all().iter().filter(|format| format.plan().is_some()).count();
        assert!(plans > 40, "{plans}");
        formats.detector.compile_all().expect("shipped patterns are expressions");
    }

    #[test]
    fn a_mapping_of_a_users_own_is_refused_at_once_if_its_pattern_is_none() {
        for how in ["reader = \"nginx\"", "vantage = \"proxy\""] {
            let text = format!("schema = 1\nname = \"own\"\n{how}\n[input]\npattern = '('\n[detect]\n");
            let refused = Formats::load(&[("own.toml".to_owned(), text)]).map(|_| ());
            assert!(matches!(refused, Err((_, MappingError::Expression { .. }))), "{how}: {refused:?}");
        }
    }
}
