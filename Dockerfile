# One static binary and nothing else. Logs and code are mounted:
#   docker run --rm -v "$PWD:/w:ro" -w /w unbroken audit access.jsonl
FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
# With a target named, the flag is for the program alone, not for procedural macros.
RUN target="$(rustc -vV | sed -n 's/^host: //p')" \
 && RUSTFLAGS="-C target-feature=+crt-static" cargo build --release --locked -p unbroken-cli --bin unbroken --target "$target" \
 && cp "target/$target/release/unbroken" /unbroken

FROM scratch
COPY --from=build /unbroken /unbroken
USER 65534:65534
ENTRYPOINT ["/unbroken"]
