import { randomUUID } from 'node:crypto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  RandomIdGenerator,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type IdGenerator,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import type { TracingSettings } from './tracing.ts';

/** The ids of a span that any process can derive. */
export interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** Starts spans with the given ids, or with random ones for null. */
export type SpanStarter = <T>(ids: SpanIds | null, start: () => T) => T;

/**
 * The SDK, for this process. Spans are sent in batches in the background; with more than 2048 waiting,
 * further ones are dropped. A batch that could not be sent is lost and reported to `onError`.
 */
export function createOtlpProvider(
  { url, headers, serviceName, ratio }: TracingSettings,
  version: string,
  onError: (error: Error) => void,
) {
  const ids = createIds();
  const exporter = tellFailures(new OTLPTraceExporter({ url, headers: { ...headers } }), onError);
  const provider = new TracerProvider({
    sampler: new TraceIdRatioBasedSampler(ratio),
    idGenerator: ids.generator,
    spanProcessors: [new BatchSpanProcessor({ exporter })],
    resource: defaultResource().merge(
      resourceFromAttributes({
        'service.name': serviceName,
        'service.version': version,
        'service.instance.id': randomUUID(),
      }),
    ),
  });
  return {
    tracer: provider.getTracer('filing-webhooks', version),
    startWith: ids.startWith,
    close: () => provider.shutdown(),
  };
}

function createIds(): { generator: IdGenerator; startWith: SpanStarter } {
  const random = new RandomIdGenerator();
  let given: SpanIds | null = null;
  return {
    generator: {
      generateTraceId: () => given?.traceId ?? random.generateTraceId(),
      generateSpanId: () => given?.spanId ?? random.generateSpanId(),
    },
    startWith(ids, start) {
      given = ids;
      try {
        return start();
      } finally {
        given = null;
      }
    },
  };
}

function tellFailures(exporter: OTLPTraceExporter, onError: (error: Error) => void): SpanExporter {
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.error !== undefined) onError(result.error);
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}
