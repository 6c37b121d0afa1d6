# Builds and runs jkgate. The configuration is mounted at /etc/jkgate.
FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo build --release --locked -p jkgate

FROM debian:bookworm-slim
COPY --from=build /src/target/release/jkgate /usr/local/bin/jkgate
COPY config/workers.toml /etc/jkgate/workers.toml
USER 65532:65532
EXPOSE 8080
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/jkgate"]
CMD ["serve", "-c", "/etc/jkgate/workers.toml"]
