# The daemon, without a build: Node runs the TypeScript sources as they are (docs/adr/0004). The demo's sandbox and receiver are
# in the same image. `.ci/image` builds and runs it, `.ci/container-install` does so without Docker, in an empty folder.
# `.ci/pin-images` adds the digest of the base.

ARG NODE_IMAGE=node:24.22-slim

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Optional dependencies are the pinned Node for developers, which the image brings itself, and native speed-ups that are not needed.
RUN npm ci --omit=dev --omit=optional --ignore-scripts

FROM ${NODE_IMAGE}
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 METRICS_PORT=9464
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json ./
COPY src ./src
COPY docs/problems.md ./docs/
# The labels of the OCI image specification. A release names its version, commit and time (docs/releasing.md); a build by hand need not.
ARG VERSION=unreleased
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="filing-webhooks" \
  org.opencontainers.image.description="Watches the filings of a surplus-lines partner service that can only be polled, and delivers every change as a signed webhook." \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.source="${SOURCE}" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.created="${CREATED}"
USER node
EXPOSE 3000 9464
# Probes have a port of their own, in any role: clients of the API cannot take its places.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.METRICS_PORT + '/health/live').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# The options of `npm start` (docs/operations.md, How much it takes).
CMD ["node", "--max-semi-space-size=16", "--no-allocation-site-pretenuring", "--max-old-space-size=1024", "--v8-pool-size=0", "src/main.ts"]
