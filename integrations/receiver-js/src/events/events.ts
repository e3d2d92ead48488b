// Generated from schemas/events by `npm run derive`: change the schemas, not this file.

/**
 * A filing exactly as the partner service returned it. Only `id` and `status` were checked by the daemon; check what you read of the others.
 */
export interface Filing {
  /** For example `f_123`. */
  readonly id: string;
  /** For example `REJECTED`. */
  readonly status: string;
  /** For example `NEW_BUSINESS`. */
  readonly filingType?: unknown;
  /** For example `SL-2026-0042`. */
  readonly policyNumber?: unknown;
  /** For example `Bluebonnet Roofing LLC`. */
  readonly insuredsName?: unknown;
  /** For example `Lone Star Surety`. */
  readonly carriersName?: unknown;
  /** For example `1200.5`. */
  readonly premium?: unknown;
  readonly filingState?: unknown;
  /** Other fields, as the partner service wrote them. */
  readonly [field: string]: unknown;
}

/** What `data` of every event `account.…` has. */
export interface AccountEventData {
  /** For example `default`. */
  readonly account: string;
  /** The page of what the event is about. Missing where the daemon has no PUBLIC_URL. For example `https://filings.example.com/#/accounts/default/filing/f_123`. */
  readonly url?: string;
}

/** `data` of `account.auth_failed`. */
export interface AccountAuthFailedData extends AccountEventData {
  /** When everything was last read. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly lastCompletePollAt: string | null;
  /** Why the last poll failed. */
  readonly lastError: string | null;
  /** Only in `account.doubtful`: the findings that are held back. */
  readonly doubt?: {
    /** For example `other_list`. */
    readonly reason: string;
    /** Known filings before that poll. */
    readonly known: number;
    /** The known filings that its lists showed. */
    readonly shown: number;
    /** Filings on its lists that were never seen before. */
    readonly unknown: number;
    /** Known filings that answered 404 when last asked for. */
    readonly gone: number;
    /** Known filings of which `completedAt` has changed and the status has not. */
    readonly moved: number;
  };
  /** Only in `account.stale`, and only where polls wait for PARTNER_TOTAL_RPS. */
  readonly late?: {
    /** For example `partner_budget`. */
    readonly reason: string;
    readonly waitedMs: number;
    readonly detail: string;
  };
}

/** The partner service refuses the key of the account. */
export interface AccountAuthFailedEvent {
  /** Id of the event: the `webhook-id` of its callbacks. For example `evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f`. */
  readonly id: string;
  readonly type: 'account.auth_failed';
  /** When the change was seen. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly timestamp: string;
  readonly data: AccountAuthFailedData;
}

/** `data` of `account.certificate_expiring`. */
export interface AccountCertificateExpiringData extends AccountEventData {
  /** For example `sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506`. */
  readonly subscription: string;
  /** Origin of the URL that is called. For example `https://example.com`. */
  readonly endpoint: string;
  /** `cert`: the one that callbacks show; `ca`: the first to end of the authorities. */
  readonly certificate: 'cert' | 'ca';
  /** Null where the settings cannot be opened. For example `CN=filing-webhooks, O=Example Ltd`. */
  readonly subject: string | null;
  /** When it ends. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly notAfter: string;
  /** Whether it has ended. */
  readonly expired: boolean;
}

/** A certificate of a subscription, or of the authorities that it trusts, ends within 30 days; and once more when it has ended. */
export interface AccountCertificateExpiringEvent {
  /** Id of the event: the `webhook-id` of its callbacks. For example `evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f`. */
  readonly id: string;
  readonly type: 'account.certificate_expiring';
  /** When the change was seen. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly timestamp: string;
  readonly data: AccountCertificateExpiringData;
}

/** `data` of `account.digest`. */
export interface AccountDigestData extends AccountEventData {
  /** The local date. For example `2026-11-21`. */
  readonly date: string;
  /** When the digest before was made; null for the first. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly since: string | null;
  /** When everything was last read. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly asOf: string;
  /** Numbers of rejections, and of endpoints. */
  readonly counts: {
    /** Filings that are rejected and not answered. */
    readonly open: number;
    /** Those that have become so since the digest before, of the 5 000 most urgent. */
    readonly new: number;
    /** Those that are past their due date, of the 5 000 most urgent. */
    readonly overdue: number;
    /** Those that nobody has seen, of the 5 000 most urgent. */
    readonly unseen: number;
    /** Rejected filings that a later one answers. */
    readonly answered: number;
    /** Open ones that no subscription has acknowledged, of the 5 000 most urgent. */
    readonly toldToNobody: number;
    /** Subscriptions whose endpoint fails, or that were disabled for it. */
    readonly failingEndpoints: number;
  };
  /** The most urgent of them, at most 50: those that are due first, then those that wait for longest. */
  readonly rejections: readonly {
    /** For example `f_123`. */
    readonly filingId: string;
    /** For example `SL-2026-0042`. */
    readonly policyNumber: string | null;
    /** For example `Bluebonnet Roofing LLC`. */
    readonly insuredsName: string | null;
    /** For example `TX`. */
    readonly stateAbbr: string | null;
    /** At most 300 characters of it. For example `Affidavit is not signed`. */
    readonly rejectionReason: string | null;
    /** Since when it is rejected, as far as polls can tell. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
    readonly since: string;
    /** When it is due by the account's `due`; null for never. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
    readonly dueAt: string | null;
    /** Whether somebody has seen it. */
    readonly seen: boolean;
  }[];
}

/** The time of day of the account's `digest` has come: what is rejected, and what is new since the digest before. Once a local day. */
export interface AccountDigestEvent {
  /** Id of the event: the `webhook-id` of its callbacks. For example `evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f`. */
  readonly id: string;
  readonly type: 'account.digest';
  /** When the change was seen. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly timestamp: string;
  readonly data: AccountDigestData;
}

/** `data` of `account.doubtful`. */
export interface AccountDoubtfulData extends AccountEventData {
  /** When everything was last read. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly lastCompletePollAt: string | null;
  /** Why the last poll failed. */
  readonly lastError: string | null;
  /** Only in `account.doubtful`: the findings that are held back. */
  readonly doubt?: {
    /** For example `other_list`. */
    readonly reason: string;
    /** Known filings before that poll. */
    readonly known: number;
    /** The known filings that its lists showed. */
    readonly shown: number;
    /** Filings on its lists that were never seen before. */
    readonly unknown: number;
    /** Known filings that answered 404 when last asked for. */
    readonly gone: number;
    /** Known filings of which `completedAt` has changed and the status has not. */
    readonly moved: number;
  };
  /** Only in `account.stale`, and only where polls wait for PARTNER_TOTAL_RPS. */
  readonly late?: {
    /** For example `partner_budget`. */
    readonly reason: string;
    readonly waitedMs: number;
    readonly detail: string;
  };
}

/** What polls find is not believed to be the account's own, and is held back until it is, or until the operator accepts it. */
export interface AccountDoubtfulEvent {
  /** Id of the event: the `webhook-id` of its callbacks. For example `evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f`. */
  readonly id: string;
  readonly type: 'account.doubtful';
  /** When the change was seen. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly timestamp: string;
  readonly data: AccountDoubtfulData;
}

/** `data` of `account.recovered`. */
export interface AccountRecoveredData extends AccountEventData {
  /** When everything was last read. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly lastCompletePollAt: string | null;
  /** Why the last poll failed. */
  readonly lastError: string | null;
  /** Only in `account.doubtful`: the findings that are held back. */
  readonly doubt?: {
    /** For example `other_list`. */
    readonly reason: string;
    /** Known filings before that poll. */
    readonly known: number;
    /** The known filings that its lists showed. */
    readonly shown: number;
    /** Filings on its lists that were never seen before. */
    readonly unknown: number;
    /** Known filings that answered 404 when last asked for. */
    readonly gone: number;
    /** Known filings of which `completedAt` has changed and the status has not. */
    readonly moved: number;
  };
  /** Only in `account.stale`, and only where polls wait for PARTNER_TOTAL_RPS. */
  readonly late?: {
    /** For example `partner_budget`. */
    readonly reason: string;
    readonly waitedMs: number;
    readonly detail: string;
  };
}

/** Polls complete again, and nothing is held back. */
export interface AccountRecoveredEvent {
  /** Id of the event: the `webhook-id` of its callbacks. For example `evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f`. */
  readonly id: string;
  readonly type: 'account.recovered';
  /** When the change was seen. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly timestamp: string;
  readonly data: AccountRecoveredData;
}

/** `data` of `account.stale`. */
export interface AccountStaleData extends AccountEventData {
  /** When everything was last read. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly lastCompletePollAt: string | null;
  /** Why the last poll failed. */
  readonly lastError: string | null;
  /** Only in `account.doubtful`: the findings that are held back. */
  readonly doubt?: {
    /** For example `other_list`. */
    readonly reason: string;
    /** Known filings before that poll. */
    readonly known: number;
    /** The known filings that its lists showed. */
    readonly shown: number;
    /** Filings on its lists that were never seen before. */
    readonly unknown: number;
    /** Known filings that answered 404 when last asked for. */
    readonly gone: number;
    /** Known filings of which `completedAt` has changed and the status has not. */
    readonly moved: number;
  };
  /** Only in `account.stale`, and only where polls wait for PARTNER_TOTAL_RPS. */
  readonly late?: {
    /** For example `partner_budget`. */
    readonly reason: string;
    readonly waitedMs: number;
    readonly detail: string;
  };
}

/** For several poll intervals no poll could be completed. */
export interface AccountStaleEvent {
  /** Id of the event: the `webhook-id` of its callbacks. For example `evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f`. */
  readonly id: string;
  readonly type: 'account.stale';
  /** When the change was seen. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly timestamp: string;
  readonly data: AccountStaleData;
}

/** Every event `account.…` that this version of the package knows. */
export type AccountEvent =
  | AccountAuthFailedEvent
  | AccountCertificateExpiringEvent
  | AccountDigestEvent
  | AccountDoubtfulEvent
  | AccountRecoveredEvent
  | AccountStaleEvent;

/** What `data` of every event `filing.…` has. */
export interface FilingEventData {
  /** For example `default`. */
  readonly account: string;
  /** For example `f_123`. */
  readonly filingId: string;
  /** As the partner service wrote it. For example `REJECTED`. */
  readonly status: string;
  /** Null in filing.created. For example `REJECTED`. */
  readonly previousStatus: string | null;
  /** For example `Affidavit is not signed`. */
  readonly rejectionReason: string | null;
  readonly completedAt: string | null;
  /** Counts the events of this filing from 1 without gaps. For example `4`. */
  readonly sequence: number;
  /** What differs from before: `status`, `completedAt`, `rejectionReason`; later versions may name more. */
  readonly changed: readonly string[];
  /** When the change happened, as far as polls can tell. */
  readonly observed: {
    /** The filing was still as before then. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
    readonly notBefore: string;
    /** The change was seen then. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
    readonly notAfter: string;
  };
  /** True where what was seen proves a round trip that no poll saw. */
  readonly inferred: boolean;
  /** The page of what the event is about. Missing where the daemon has no PUBLIC_URL. For example `https://filings.example.com/#/accounts/default/filing/f_123`. */
  readonly url?: string;
  /** In filing.resubmitted, and in other events of a rejection that is answered: the filing that answers it. Null = none does any more. For example `f_124`. */
  readonly answeredBy?: string | null;
  /** By the account's `due`; null where the filing has no date or its state no rule, and of a COMPLETED filing that was not read for the event. Only where the account has `due`. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly dueAt?: string | null;
  /** The filing exactly as the partner service returned it; null in filing.removed; left out with the payload `thin`, and where `omitted` says why. */
  readonly filing?: Filing | null;
  /** Why an event has no `filing`, whatever the payload: it is larger than FILING_MAX_BYTES or has more than 50 000 values, or the other fields are larger than 128 KiB and were cut; or (`not_kept`, in filing.snapshot) the log no longer holds the last event of the filing, or (in filing.resubmitted and filing.noted) it was not read for the event. For example `too_large`. */
  readonly omitted?: string;
  /** Only with `not_kept`: what is kept of the filing; null for COMPLETED filings. */
  readonly details?: {
    readonly policyNumber: string | null;
    readonly insuredsName: string | null;
    readonly stateAbbr: string | null;
    readonly filingType: string | null;
    readonly premium: number | null;
    readonly carriersName: string | null;
    readonly createdAt: string | null;
    readonly policyEffectiveDate: string | null;
    readonly endorsementEffectiveDate: string | null;
    readonly endorsementNumber: string | null;
  } | null;
}

/** The status became COMPLETED; or `completedAt` moved while it was, and `inferred` says whether that proves an unseen round trip. */
export interface FilingCompletedEvent {
  /** Id of the event: the `webhook-id` of its callbacks. For example `evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f`. */
  readonly id: string;
  readonly type: 'filing.completed';
  /** When the change was seen. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly timestamp: string;
  readonly data: FilingEventData;
}

/** A filing was first seen, after the baseline; `previousStatus` is null. */
export interface FilingCreatedEvent {
  /** Id of the event: the `webhook-id` of its callbacks. For example `evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f`. */
  readonly id: string;
  readonly type: 'filing.created';
  /** When the change was seen. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly timestamp: string;
  readonly data: FilingEventData;
}

/** `data` of `filing.due`. */
export interface FilingDueData extends FilingEventData {
  /** The due date that comes near or is passed. */
  readonly due: {
    /** The effective date and the account's `due` for the state. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
    readonly dueAt: string;
    /** Which of the `dueWarnings` this is: how long before, an ISO 8601 duration. For example `P7D`. */
    readonly threshold: string;
    /** Whether somebody has taken note of the present rejection. */
    readonly seen: boolean;
  };
}

/** A filing that is not COMPLETED comes near its due date by the account's `due`, or passes it; once for each of `dueWarnings` and due date. */
export interface FilingDueEvent {
  /** Id of the event: the `webhook-id` of its callbacks. For example `evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f`. */
  readonly id: string;
  readonly type: 'filing.due';
  /** When the change was seen. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly timestamp: string;
  readonly data: FilingDueData;
}

/** `data` of `filing.noted`. */
export interface FilingNotedData extends FilingEventData {
  /** What a person noted. */
  readonly note: {
    /** For example `Dana Reyes`. */
    readonly by: string;
    /** `seen`: took note of the rejection; `undone`: took that back; `note`: wrote a note; `assigned`: assigned the filing. */
    readonly kind: 'seen' | 'note' | 'assigned' | 'undone';
    /** What is done about it. */
    readonly text: string | null;
    /** To whom the filing is assigned from now on; null = to nobody. */
    readonly assignee: string | null;
  };
}

/** A person took note of a filing, took that back, wrote a note or assigned the filing. Only subscriptions with `filing.noted` or `*` get it: `filing.*` leaves it out. */
export interface FilingNotedEvent {
  /** Id of the event: the `webhook-id` of its callbacks. For example `evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f`. */
  readonly id: string;
  readonly type: 'filing.noted';
  /** When the change was seen. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly timestamp: string;
  readonly data: FilingNotedData;
}

/** The status became PAID. */
export interface FilingPaidEvent {
  /** Id of the event: the `webhook-id` of its callbacks. For example `evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f`. */
  readonly id: string;
  readonly type: 'filing.paid';
  /** When the change was seen. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly timestamp: string;
  readonly data: FilingEventData;
}

/** The status became PENDING. */
export interface FilingPendingEvent {
  /** Id of the event: the `webhook-id` of its callbacks. For example `evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f`. */
  readonly id: string;
  readonly type: 'filing.pending';
  /** When the change was seen. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly timestamp: string;
  readonly data: FilingEventData;
}

/** The status became REJECTED; or `rejectionReason` moved while it was, or `completedAt`, which proves an unseen round trip (`inferred`). */
export interface FilingRejectedEvent {
  /** Id of the event: the `webhook-id` of its callbacks. For example `evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f`. */
  readonly id: string;
  readonly type: 'filing.rejected';
  /** When the change was seen. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly timestamp: string;
  readonly data: FilingEventData;
}

/** The partner service no longer knows the filing: it answered 404 on two polls. */
export interface FilingRemovedEvent {
  /** Id of the event: the `webhook-id` of its callbacks. For example `evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f`. */
  readonly id: string;
  readonly type: 'filing.removed';
  /** When the change was seen. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly timestamp: string;
  readonly data: FilingEventData;
}

/** COMPLETED became PENDING (in place of `filing.pending`). */
export interface FilingReopenedEvent {
  /** Id of the event: the `webhook-id` of its callbacks. For example `evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f`. */
  readonly id: string;
  readonly type: 'filing.reopened';
  /** When the change was seen. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly timestamp: string;
  readonly data: FilingEventData;
}

/** The partner service knows a removed filing again. */
export interface FilingRestoredEvent {
  /** Id of the event: the `webhook-id` of its callbacks. For example `evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f`. */
  readonly id: string;
  readonly type: 'filing.restored';
  /** When the change was seen. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly timestamp: string;
  readonly data: FilingEventData;
}

/** A later filing answers the rejection: it has the same policy number, state, type and endorsement number, or a person said so. With `answeredBy` null it answers it no more. */
export interface FilingResubmittedEvent {
  /** Id of the event: the `webhook-id` of its callbacks. For example `evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f`. */
  readonly id: string;
  readonly type: 'filing.resubmitted';
  /** When the change was seen. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly timestamp: string;
  readonly data: FilingEventData;
}

/** A subscription with `from: "state"` begins: the filing as it is, once for each. It is in no log. */
export interface FilingSnapshotEvent {
  /** Id of the event: the `webhook-id` of its callbacks. For example `evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f`. */
  readonly id: string;
  readonly type: 'filing.snapshot';
  /** When the change was seen. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly timestamp: string;
  readonly data: FilingEventData;
}

/** `data` of `filing.stalled`. */
export interface FilingStalledData extends FilingEventData {
  /** What lasts for longer than it should. */
  readonly stalled: {
    /** The status that lasts. */
    readonly status: string;
    /** When it was first seen in that status; for a filing of the baseline, when that was read. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
    readonly since: string;
    /** The account's limit for that status, an ISO 8601 duration. For example `P10D`. */
    readonly after: string;
    /** Whether somebody has seen the rejection; false in other statuses. */
    readonly seen: boolean;
  };
}

/** A filing has been in its status for longer than the account's `stalledAfter` allows; once per stay and limit. */
export interface FilingStalledEvent {
  /** Id of the event: the `webhook-id` of its callbacks. For example `evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f`. */
  readonly id: string;
  readonly type: 'filing.stalled';
  /** When the change was seen. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly timestamp: string;
  readonly data: FilingStalledData;
}

/** The status became a value that this version does not know; it is passed on verbatim. */
export interface FilingStatusChangedEvent {
  /** Id of the event: the `webhook-id` of its callbacks. For example `evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f`. */
  readonly id: string;
  readonly type: 'filing.status_changed';
  /** When the change was seen. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly timestamp: string;
  readonly data: FilingEventData;
}

/** The status became UNPAID. */
export interface FilingUnpaidEvent {
  /** Id of the event: the `webhook-id` of its callbacks. For example `evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f`. */
  readonly id: string;
  readonly type: 'filing.unpaid';
  /** When the change was seen. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly timestamp: string;
  readonly data: FilingEventData;
}

/** Every event `filing.…` that this version of the package knows. */
export type FilingEvent =
  | FilingCompletedEvent
  | FilingCreatedEvent
  | FilingDueEvent
  | FilingNotedEvent
  | FilingPaidEvent
  | FilingPendingEvent
  | FilingRejectedEvent
  | FilingRemovedEvent
  | FilingReopenedEvent
  | FilingRestoredEvent
  | FilingResubmittedEvent
  | FilingSnapshotEvent
  | FilingStalledEvent
  | FilingStatusChangedEvent
  | FilingUnpaidEvent;

/** `data` of `ping`. */
export interface PingEventData {
  /** For example `default`. */
  readonly account: string;
  /** For example `sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506`. */
  readonly subscription: string;
  /** Of the subscription; missing without one. For example `Claims desk`. */
  readonly description?: string;
  /** The page of what the event is about. Missing where the daemon has no PUBLIC_URL. For example `https://filings.example.com/#/accounts/default/filing/f_123`. */
  readonly url?: string;
}

/** A test call; it is in no log. */
export interface PingEvent {
  /** Id of the event: the `webhook-id` of its callbacks. For example `evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f`. */
  readonly id: string;
  readonly type: 'ping';
  /** When the change was seen. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly timestamp: string;
  readonly data: PingEventData;
}

/** What `data` of every event `subscription.…` has. */
export interface SubscriptionEventData {
  /** For example `default`. */
  readonly account: string;
  /** For example `sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506`. */
  readonly subscription: string;
  /** Origin of the URL that is called. For example `https://example.com`. */
  readonly endpoint: string;
  /** The page of what the event is about. Missing where the daemon has no PUBLIC_URL. For example `https://filings.example.com/#/accounts/default/filing/f_123`. */
  readonly url?: string;
}

/** `data` of `subscription.disabled`. */
export interface SubscriptionDisabledData extends SubscriptionEventData {
  /** For example `the endpoint answered 410 Gone`. */
  readonly reason: string;
}

/** A subscription was disabled: its endpoint answered 410, failed for too long or could not be verified, or it has expired. */
export interface SubscriptionDisabledEvent {
  /** Id of the event: the `webhook-id` of its callbacks. For example `evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f`. */
  readonly id: string;
  readonly type: 'subscription.disabled';
  /** When the change was seen. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly timestamp: string;
  readonly data: SubscriptionDisabledData;
}

/** `data` of `subscription.fell_behind`. */
export interface SubscriptionFellBehindData extends SubscriptionEventData {
  /** How many, of all types: the log no longer holds them to compare. */
  readonly events: number;
}

/** Events left the log, for their age or for room, before a subscription got them. */
export interface SubscriptionFellBehindEvent {
  /** Id of the event: the `webhook-id` of its callbacks. For example `evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f`. */
  readonly id: string;
  readonly type: 'subscription.fell_behind';
  /** When the change was seen. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly timestamp: string;
  readonly data: SubscriptionFellBehindData;
}

/** `data` of `subscription.recovered`. */
export interface SubscriptionRecoveredData extends SubscriptionEventData {
  /** When it was disabled. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly disabledAt: string;
  /** How many events waited and are delivered now, the one that the endpoint has just accepted included. Over 2000, all events of the log count. */
  readonly waiting: number;
  /** How many events, of all types, had left the log before they could be delivered; 0 = the log still held all that was missed. */
  readonly lost: number;
}

/** A subscription that was disabled for failing was enabled again, because its endpoint accepted a callback when it was asked. */
export interface SubscriptionRecoveredEvent {
  /** Id of the event: the `webhook-id` of its callbacks. For example `evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f`. */
  readonly id: string;
  readonly type: 'subscription.recovered';
  /** When the change was seen. An instant, ISO 8601 in UTC. For example `2026-11-21T10:00:03.120Z`. */
  readonly timestamp: string;
  readonly data: SubscriptionRecoveredData;
}

/** Every event `subscription.…` that this version of the package knows. */
export type SubscriptionEvent =
  SubscriptionDisabledEvent | SubscriptionFellBehindEvent | SubscriptionRecoveredEvent;

/** Every event that this version of the package knows, told apart by `type`. */
export type KnownEvent = AccountEvent | FilingEvent | PingEvent | SubscriptionEvent;

/** The types of all events that this version of the package knows. */
export const knownEventTypes = [
  'account.auth_failed',
  'account.certificate_expiring',
  'account.digest',
  'account.doubtful',
  'account.recovered',
  'account.stale',
  'filing.completed',
  'filing.created',
  'filing.due',
  'filing.noted',
  'filing.paid',
  'filing.pending',
  'filing.rejected',
  'filing.removed',
  'filing.reopened',
  'filing.restored',
  'filing.resubmitted',
  'filing.snapshot',
  'filing.stalled',
  'filing.status_changed',
  'filing.unpaid',
  'ping',
  'subscription.disabled',
  'subscription.fell_behind',
  'subscription.recovered',
] as const;
