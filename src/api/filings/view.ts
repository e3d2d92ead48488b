import { type Static, Type } from 'typebox';
import { isSinceFirstRead } from '../../filings/detection/filing-state.ts';
import type { ListedFiling } from '../../filings/lists/filing-list-store.ts';
import type { WithDue } from './choices.ts';
import * as s from '../shared/schema.ts';
import type { WithTold } from './told.ts';

/** A filing as the API shows it; pure. */
export function filingView(filing: WithDue<WithTold<ListedFiling>>): Static<typeof filingSchema> {
  const { id: filingId, state, details, seen, assignee, note, answers, told, dueAt } = filing;
  const sinceIsFirstRead = isSinceFirstRead(state);
  const answeredBy = state.answeredBy ?? null;
  const marks = { sinceIsFirstRead, seen, assignee, note, answeredBy, answers, told, dueAt };
  return s.show(filingSchema, { ...noDetails, ...details, ...state, filingId, ...marks });
}

const noDetails = {
  policyNumber: null,
  insuredsName: null,
  stateAbbr: null,
  filingType: null,
  premium: null,
  carriersName: null,
  createdAt: null,
  policyEffectiveDate: null,
};

/** The note that a rejection was seen, in a response. */
const seenShown = s.nullable(
  s.record({
    by: Type.String({ examples: ['Dana Reyes'] }),
    note: s.stringOrNull('What is done about it.'),
    at: s.time('When it was noted.'),
  }),
  {
    description:
      'Who has seen the present rejection; null for nobody, in other statuses, and once status or reason have changed.',
  },
);

/** The subscriptions that were notified of a rejection, in a response. */
const toldShown = s.nullable(
  Type.Array(
    s.record({
      subscription: s.string('Its id.', { examples: ['sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506'] }),
      description: s.stringOrNull('Of the subscription.'),
      at: s.timeOrNull('When it acknowledged the event; null if that attempt is no longer kept.'),
    }),
  ),
  {
    description:
      'The subscriptions that have acknowledged the present rejection: its newest event that reports the status, or a later snapshot. Empty: nobody was told. ' +
      'Null in other statuses, and where the log no longer holds the event. The oldest hundred subscriptions are looked at.',
  },
);

const detail = (description: string) =>
  s.stringOrNull(`${description} Null when it is not known, and once the filing is COMPLETED.`);

/** The fields of a filing. */
export const filingFields = {
  filingId: Type.String({ examples: ['f_123'] }),
  status: Type.String({ examples: ['REJECTED'] }),
  since: s.time('Since when the status is this, as far as polls can tell.'),
  sinceIsFirstRead: s.boolean(
    'True where it was in this status at its first read already, in the silent baseline: it came into it at an unknown time before `since`.',
  ),
  completedAt: s.stringOrNull('As the partner service wrote it.'),
  rejectionReason: s.stringOrNull('As the partner service wrote it.'),
  sequence: s.integer('Number of events of this filing so far; 0 = unchanged since the baseline.'),
  removed: s.boolean('Whether the partner service no longer knows it; such filings are in no list.'),
  policyNumber: detail('Policy number.'),
  insuredsName: detail("Insured's name, at most 200 characters of it."),
  stateAbbr: detail('State abbreviation.'),
  filingType: detail('Filing type.'),
  premium: s.nullable(Type.Number(), {
    description: 'Premium. Null when it is not known, and once the filing is COMPLETED.',
  }),
  carriersName: detail("Carrier's name."),
  createdAt: detail('When it was filed, as the partner service wrote it.'),
  policyEffectiveDate: detail('As the partner service wrote it.'),
  dueAt: s.timeOrNull(
    "When it is due by the account's `due`; null where it has no readable date, its state has no rule, or it is COMPLETED.",
  ),
  seen: seenShown,
  answeredBy: s.stringOrNull(
    'The filing that answers this rejection, which is not open then; null for none.',
    {
      examples: ['f_124'],
    },
  ),
  answers: s.stringOrNull('The rejection that this filing answers; null for none.', { examples: ['f_122'] }),
  told: toldShown,
  assignee: s.stringOrNull('To whom it is assigned; null = to nobody.', { examples: ['Dana Reyes'] }),
  note: s.nullable(
    s.record({
      by: Type.String({ examples: ['Dana Reyes'] }),
      text: Type.String({ examples: ['Asked the broker for the signed affidavit.'] }),
      at: s.time('When it was written.'),
    }),
    { description: 'The latest note on the filing, also one that came with a mark; null for none.' },
  ),
};

/** A filing as the daemon last saw it. */
export const filingSchema = s.shared('Filing', filingFields);
