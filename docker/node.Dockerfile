# The stock node: one static binary and nothing else, not even a shell.
#
#   docker build -f docker/node.Dockerfile -t nexus-node .

FROM golang:1.26-bookworm AS build
WORKDIR /src
# Dependencies change less often than code: they get a layer of their own.
COPY go.mod go.sum ./
COPY cmd/nexus-node/go.mod cmd/nexus-node/go.sum ./cmd/nexus-node/
RUN cd cmd/nexus-node && go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 GOWORK=off go build -C cmd/nexus-node -trimpath -ldflags "-s -w -X main.version=$VERSION" -o /nexus-node .

# It has CA certificates and time zones, which TLS and schedules need.
FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /nexus-node /nexus-node
ENTRYPOINT ["/nexus-node"]
CMD ["run"]
