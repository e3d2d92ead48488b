import { diag, DiagLogLevel, ROOT_CONTEXT } from '@opentelemetry/api';
import { randomUUID } from 'node:crypto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
  type Resource,
} from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  RandomIdGenerator,
  SamplingDecision,
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
type SpanStarter = <T>(ids: SpanIds | null, start: () => T) => T;

/**
 * The SDK, for this process. Spans are sent in batches in the background; with more than 2048 waiting,
 * further ones are dropped. A batch that could not be sent is lost and reported to `onError`, and so is what
 * the libraries warn of.
 */
export function createOtlpProvider(
  { environment, ratio }: TracingSettings,
  version: string,
  onError: (error: Error) => void,
) {
  // The libraries read their variables from here alone, and those of `.env` are not in it.
  Object.assign(process.env, environment);
  diag.setLogger(warnings(onError), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const ids = createIds();
  const sampler = new TraceIdRatioBasedSampler(ratio);
  const exporter = reportFailures(new OTLPTraceExporter(), onError);
  const provider = new TracerProvider({
    sampler,
    idGenerator: ids.generator,
    spanProcessors: [new BatchSpanProcessor({ exporter })],
    resource: resourceOf(version, onError),
  });
  return {
    tracer: provider.getTracer('filing-webhooks', version),
    startWith: ids.startWith,
    newSpanId: ids.newSpanId,
    /** Whether a trace is sent. */
    isSampled: (traceId: string) =>
      sampler.shouldSample(ROOT_CONTEXT, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED,
    // It rejects with failures to send, which are reported already.
    close: () => provider.shutdown().catch(() => undefined),
  };
}

// Attributes of the operator replace those of the daemon.
function resourceOf(version: string, onError: (error: Error) => void): Resource {
  const given = detectResources({ detectors: [resourceAttributesEnvDetector] });
  if (process.env['OTEL_RESOURCE_ATTRIBUTES'] && Object.keys(given.attributes).length === 0)
    onError(
      new Error(
        'OTEL_RESOURCE_ATTRIBUTES is not heeded: it must be name=value with commas between, the values percent-encoded',
      ),
    );
  const own = {
    'service.name': 'filing-webhooks',
    'service.version': version,
    'service.instance.id': randomUUID(),
  };
  return defaultResource()
    .merge(resourceFromAttributes(own))
    .merge(given)
    .merge(detectResources({ detectors: [serviceNameEnvDetector] }));
}

function createIds(): { generator: IdGenerator; newSpanId: () => string; startWith: SpanStarter } {
  const random = new RandomIdGenerator();
  let given: SpanIds | null = null;
  return {
    generator: {
      generateTraceId: () => given?.traceId ?? random.generateTraceId(),
      generateSpanId: () => given?.spanId ?? random.generateSpanId(),
    },
    newSpanId: () => random.generateSpanId(),
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

function reportFailures(exporter: OTLPTraceExporter, onError: (error: Error) => void): SpanExporter {
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.error !== undefined) onError(new Error(`traces are not sent: ${result.error.message}`));
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

// Errors are failures to send, which the exporter's result reports.
function warnings(onError: (error: Error) => void) {
  const nothing = () => undefined;
  return {
    error: nothing,
    warn: (message: string) => onError(new Error(`OpenTelemetry: ${message}`)),
    info: nothing,
    debug: nothing,
    verbose: nothing,
  };
}
