# Builds and runs jkgate. The configuration is mounted at /etc/jkgate.
FROM debian:bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates cargo rustc gcc libc6-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
# Debian's own compiler may be older than this project needs; then use an image with Rust 1.95 or later here.
RUN cargo build --release --locked -p jkgate

FROM debian:bookworm-slim
COPY --from=build /src/target/release/jkgate /usr/local/bin/jkgate
COPY config/workers.toml /etc/jkgate/workers.toml
USER 65532:65532
EXPOSE 8080
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/jkgate"]
CMD ["serve", "-c", "/etc/jkgate/workers.toml"]
