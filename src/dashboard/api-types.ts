import type { Static } from 'typebox';
import type { countsAnswerSchema } from '../api/accounts/accounts.ts';
import type { accountSchema, savedAccountSchema } from '../api/accounts/view.ts';
import type { attemptDetailSchema, attemptSchema } from '../api/delivery/attempts.ts';
import type { deadLetterSchema } from '../api/delivery/dead-letters.ts';
import type { eventDeliverySchema } from '../api/delivery/event-deliveries.ts';
import type { pingAnswerSchema } from '../api/delivery/calls.ts';
import type { replaySchema } from '../api/delivery/replays.ts';
import type { FiledWith, filingListSchema } from '../api/filings/filings.ts';
import type { draftSchema } from '../api/filings/draft.ts';
import type { filingSchema } from '../api/filings/view.ts';
import type { boardAccountSchema } from '../api/filings/covered-accounts.ts';
import type { boardSchema, rejectionSchema } from '../api/filings/rejections.ts';
import type { sessionSchema } from '../api/access/session.ts';
import type { rotationSchema } from '../api/subscriptions/subscriptions.ts';
import type { changedSchema, registeredSchema, subscriptionSchema } from '../api/subscriptions/schema.ts';
import type { tokenSchema } from '../api/tokens.ts';

// The types of the page, named in its JSDoc. They come from the schemas of the API; a list names its items by
// `$ref` there, so those are joined here. Nothing of this is served.

/** A page of a list. */
export interface Page<T> {
  readonly items: T[];
  readonly nextCursor: string | null;
}

type FilingList = Static<typeof filingListSchema>;
type Board = Static<typeof boardSchema>;
type AttemptDetail = Static<typeof attemptDetailSchema>;

export type Account = Static<typeof accountSchema>;
export type SavedAccount = Static<typeof savedAccountSchema>;
export type Counts = Static<typeof countsAnswerSchema>;
export type Filing = Static<typeof filingSchema>;
export type FilingPage = Page<Filing> & Pick<FilingList, 'searched'>;
export type Draft = Static<typeof draftSchema>;
export type Rejection = Static<typeof rejectionSchema>;
export type BoardAccount = Static<typeof boardAccountSchema>;
export type RejectionPage = Page<Rejection> &
  Omit<Board, 'items' | 'accounts'> & { accounts: BoardAccount[] };
export type Subscription = Static<typeof subscriptionSchema>;
export type RegisteredSubscription = Static<typeof registeredSchema>;
export type ChangedSubscription = Static<typeof changedSchema>;
export type Rotation = Static<typeof rotationSchema>;
export type Attempt = Static<typeof attemptSchema>;
export type AttemptDetails = Omit<AttemptDetail, 'earlier' | 'later'> &
  Record<'earlier' | 'later', Attempt[]>;
export type EventDelivery = Static<typeof eventDeliverySchema>;
export type DeadLetter = Static<typeof deadLetterSchema>;
export type PingAnswer = Static<typeof pingAnswerSchema>;
export type Replay = Static<typeof replaySchema>;
export type Token = Static<typeof tokenSchema>;
export type Session = Static<typeof sessionSchema>;

/** An event of the log: of a filing or an operational one, so every field of `data` is read with care. */
export interface FilingEvent {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A filing, who filed it with which documents, and its events, oldest first. */
export type FilingWithEvents = Filing & FiledWith & { readonly events: readonly FilingEvent[] };

/** A page of the log; `resumeCursor` stands after everything that was examined. */
export type EventPage = Page<FilingEvent> & { readonly resumeCursor: string };
