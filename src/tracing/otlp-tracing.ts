import { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import type { Attributes, Context, Link, Span } from '@opentelemetry/api';
import type { AttemptReport } from '../delivery/settlement.ts';
import type { Tracing, TracingSettings } from './tracing.ts';
import { createOtlpProvider, type SpanIds } from './otlp-provider.ts';

export interface OtlpTracingDeps {
  readonly version: string;
  /** Wall clock in milliseconds. */
  readonly now: () => number;
  /** A batch of spans could not be sent, or a variable of OpenTelemetry is wrong. */
  readonly onError: (error: Error) => void;
}

type Attempt = AttemptReport['attempt'];

/** A poll or a run of a deliverer in progress. */
interface Turn {
  readonly span: Span;
  readonly startedAt: number;
  told: boolean;
}

/** Traces sent to a collector by OTLP. No span holds a URL's path or query, a secret, a key or a body. */
export function createOtlpTracing(settings: TracingSettings, deps: OtlpTracingDeps): Tracing {
  const { version, now, onError } = deps;
  const { tracer, startWith, newSpanId, isSampled, close } = createOtlpProvider(settings, version, onError);
  const begin = (name: string, account: string, told: boolean): Turn => {
    const startedAt = now();
    const options = { startTime: startedAt, attributes: { 'filing_webhooks.account': account } };
    return { span: tracer.startSpan(name, options, ROOT_CONTEXT), startedAt, told };
  };
  const polls = new Map<string, Turn>();
  const runs = new Map<string, Turn>();

  return {
    poll: (account, run) => during(polls, account, begin('poll', account, false), run, now),

    eventsRecorded(account, events) {
      const at = now();
      const poll = polls.get(account);
      for (const { id, type, filingId } of events) {
        const attributes = eventAttributes(account, id, type, filingId);
        const ids = idsOf(id);
        const options = { startTime: poll?.startedAt ?? at, attributes, links: linkTo(poll) };
        startWith(ids, () => tracer.startSpan('detect', options, ROOT_CONTEXT)).end(at);
        poll?.span.addLink({ context: remote(ids) });
      }
    },

    pollReported({ account, outcome, requests }) {
      const poll = polls.get(account);
      if (poll === undefined) return;
      poll.told = true;
      poll.span.setAttributes({
        'filing_webhooks.poll.outcome': outcome.kind,
        'filing_webhooks.poll.requests': requests,
      });
      if ('events' in outcome)
        poll.span.setAttributes({
          'filing_webhooks.poll.mode': outcome.mode,
          'filing_webhooks.poll.changes': outcome.events,
        });
      if (outcome.kind === 'failed') fail(poll.span, outcome.reason);
    },

    run: (account, run) => during(runs, account, begin('deliver', account, true), run, now),

    traceparent(eventId) {
      if (!settings.propagates) return null;
      const { traceId } = idsOf(eventId);
      return `00-${traceId}-${newSpanId()}-${isSampled(traceId) ? '01' : '00'}`;
    },

    attemptReported({ subscription, attempt, sent, deadLetter }) {
      const { account } = subscription;
      const { eventId, eventType, filingId, outcome, durationMs } = attempt;
      const endedAt = now();
      const options = {
        kind: SpanKind.CLIENT,
        startTime: endedAt - durationMs,
        links: linkTo(runs.get(account)),
        attributes: {
          ...eventAttributes(account, eventId, eventType, filingId),
          'filing_webhooks.subscription': subscription.id,
          'filing_webhooks.attempt': attempt.attempt,
          'filing_webhooks.outcome': outcome,
          'filing_webhooks.dead_letter': deadLetter,
          ...requestAttributes(subscription.url, attempt),
        },
      };
      const span = startWith(idsIn(sent.traceparent), () =>
        tracer.startSpan('callback', options, contextOf(eventId)),
      );
      if (outcome !== 'delivered') fail(span, errorType(attempt));
      span.end(endedAt);
    },

    close,
  };
}

/** Runs a turn within its span; a span whose turn is not `told` is dropped. */
async function during<T>(
  turns: Map<string, Turn>,
  account: string,
  turn: Turn,
  run: () => Promise<T>,
  now: () => number,
): Promise<T> {
  turns.set(account, turn);
  try {
    return await run();
  } catch (error) {
    turn.told = true;
    fail(turn.span, error instanceof Error ? error.name : 'error');
    throw error;
  } finally {
    if (turns.get(account) === turn) turns.delete(account);
    if (turn.told) turn.span.end(now());
  }
}

function eventAttributes(account: string, id: string, type: string, filingId: string): Attributes {
  return {
    'filing_webhooks.account': account,
    'filing_webhooks.event.id': id,
    'filing_webhooks.event.type': type,
    ...(filingId === '' ? {} : { 'filing_webhooks.filing': filingId }),
  };
}

/**
 * The attributes of an HTTP client's span by OpenTelemetry's conventions, of which a further attempt is a
 * request that is sent again. Receivers keep credentials in the path and the query of their URLs.
 */
function requestAttributes(url: string, { attempt, statusCode }: Attempt): Attributes {
  const { hostname, port, protocol, origin } = new URL(url);
  const defaultPort = protocol === 'https:' ? 443 : 80;
  return {
    'http.request.method': 'POST',
    'url.full': `${origin}/REDACTED`,
    'server.address': hostname.replaceAll(/[[\]]/g, ''),
    'server.port': port === '' ? defaultPort : Number(port),
    ...(attempt === 1 ? {} : { 'http.request.resend_count': attempt - 1 }),
    ...(statusCode === null ? {} : { 'http.response.status_code': statusCode }),
  };
}

// The status if it means that the request failed, else the outcome.
function errorType({ statusCode, outcome }: Attempt): string {
  return statusCode !== null && statusCode >= 400 ? String(statusCode) : outcome;
}

// The 128 bits of the event's id are the id of the trace; their first half is the id of its first span.
function idsOf(eventId: string): SpanIds {
  const traceId = eventId.slice('evt_'.length);
  return { traceId, spanId: traceId.slice(0, 16) };
}

function idsIn(traceparent: string | null): SpanIds | null {
  const [, traceId, spanId] = traceparent?.split('-') ?? [];
  return traceId === undefined || spanId === undefined ? null : { traceId, spanId };
}

function remote(ids: SpanIds) {
  return { ...ids, traceFlags: TraceFlags.SAMPLED, isRemote: true };
}

function contextOf(eventId: string): Context {
  return trace.setSpanContext(ROOT_CONTEXT, remote(idsOf(eventId)));
}

function linkTo(turn: Turn | undefined): Link[] {
  return turn === undefined ? [] : [{ context: turn.span.spanContext() }];
}

function fail(span: Span, type: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', type);
}
