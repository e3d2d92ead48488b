import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import type { Issued } from './certificates.ts';

/** A span as it was sent, its attributes as plain values. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  /** The attributes of the process. */
  readonly resource: Readonly<Record<string, unknown>>;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly failed: boolean;
  /** Milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Takes OTLP over HTTP in JSON on loopback, as OpenTelemetry's collectors do. */
export interface TraceCollector extends AsyncDisposable {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** The headers of each request. */
  readonly requests: readonly Readonly<Record<string, unknown>>[];
  /** Everything that was sent, as one text. */
  text(): string;
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly Attribute[];
  readonly links?: CollectedSpan['links'];
  readonly status: { readonly code?: number };
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}

/** Starts one on a free port; with a certificate it takes TLS. */
export async function startTraceCollector(certificate?: Issued): Promise<TraceCollector> {
  const sent: Sent[] = [];
  const requests: Record<string, unknown>[] = [];
  const take: RequestListener = (request, response) => {
    const isZipped = request.headers['content-encoding'] === 'gzip';
    json(isZipped ? request.pipe(createGunzip()) : request).then(
      (body) => {
        if (request.url === '/v1/traces') sent.push(body as Sent);
        requests.push(request.headers);
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      },
      () => response.writeHead(400).end(),
    );
  };
  const server = certificate === undefined ? createServer(take) : createTlsServer(certificate, take);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get spans() {
      return sent.flatMap(spansOf);
    },
    requests,
    text: () => JSON.stringify(sent),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function spansOf({ resourceSpans }: Sent): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        parentSpanId: span.parentSpanId ?? '',
        resource: plain(resource.attributes),
        attributes: plain(span.attributes),
        links: span.links ?? [],
        failed: span.status.code === 2,
        startedAt: Number(span.startTimeUnixNano) / 1e6,
        endedAt: Number(span.endTimeUnixNano) / 1e6,
      })),
    ),
  );
}

function plain(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
