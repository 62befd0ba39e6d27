# One static binary and nothing else. Logs and code are mounted:
#   docker run --rm -v "$PWD:/w:ro" -w /w unbroken audit access.jsonl
FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
# With a target named, the flag is for the program alone, not for procedural macros. Without its tables for debuggers the
# program is a fifth as large.
RUN target="$(rustc -vV | sed -n 's/^host: //p')" \
 && export RUSTFLAGS="-C target-feature=+crt-static" CARGO_PROFILE_RELEASE_STRIP=symbols \
 && cargo build --release --locked -p unbroken-cli --bin unbroken --target "$target" \
 && cp "target/$target/release/unbroken" /unbroken

FROM scratch
COPY --from=build /unbroken /unbroken
USER 65534:65534
ENTRYPOINT ["/unbroken"]
