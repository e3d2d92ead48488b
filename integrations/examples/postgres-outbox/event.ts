/** A callback, as far as these programs use it; `schemas/events` of filing-webhooks has all of it. */
export interface WebhookEvent {
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A callback about a filing. */
export interface FilingEvent extends WebhookEvent {
  readonly data: {
    readonly account: string;
    readonly filingId: string;
    readonly sequence: number;
    readonly status: string;
    readonly rejectionReason: string | null;
    /** Null when the filing was removed, missing with the payload `thin` and when it was too large. */
    readonly filing?: Readonly<Record<string, unknown>> | null;
    readonly stalled?: { readonly since: string; readonly after: string };
  } & Readonly<Record<string, unknown>>;
}
