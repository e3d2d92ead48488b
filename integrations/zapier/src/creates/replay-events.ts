import type { Bundle, Create, ZObject } from 'zapier-platform-core';
import { callApi } from '../api.ts';
import { typesUnder } from '../catalogue.ts';
import { given, readFlag, readList, readText } from '../input.ts';

/** Delivers events of the log to a subscription again. */
export const replayEvents: Create = {
  key: 'replay_events',
  noun: 'Replay',
  display: {
    label: 'Replay Events',
    description:
      'Delivers past events to a subscription again, or those that were given up. A Zap that had an event within a day drops it.',
  },
  operation: {
    perform: replay,
    inputFields: [
      {
        key: 'subscription',
        label: 'Subscription',
        type: 'string',
        required: true,
        dynamic: 'subscriptions.id.name',
        helpText: 'Whose events are delivered again. With a token for own subscriptions, those of Zaps.',
      },
      {
        key: 'after',
        label: 'Recorded since',
        type: 'datetime',
        required: false,
        helpText: 'Only events of this time or later; empty for all that are kept.',
      },
      { key: 'before', label: 'Recorded before', type: 'datetime', required: false },
      {
        key: 'filingId',
        label: 'Filing ID',
        type: 'string',
        required: false,
        helpText: 'Only events of this filing.',
      },
      {
        key: 'eventTypes',
        label: 'Changes',
        type: 'string',
        list: true,
        required: false,
        choices: typesUnder('filing.', 'account.', 'subscription.'),
      },
      {
        key: 'deadLettersOnly',
        label: 'Only events that were given up',
        type: 'boolean',
        required: false,
        default: 'false',
      },
    ],
    outputFields: [
      { key: 'id', label: 'Replay ID', type: 'string' },
      { key: 'matched', label: 'Matched', type: 'integer' },
    ],
    sample: { id: 'rpl_7d21.sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506', matched: 1 },
  },
};

function replay(z: ZObject, bundle: Bundle): Promise<object> {
  const { inputData } = bundle;
  const subscription = readText(inputData, 'subscription') ?? '';
  return callApi(z, bundle, {
    method: 'POST',
    path: `/subscriptions/${encodeURIComponent(subscription)}/replay`,
    body: given({
      after: readTime(z, inputData['after']),
      before: readTime(z, inputData['before']),
      filingId: readText(inputData, 'filingId'),
      eventTypes: readList(inputData, 'eventTypes'),
      deadLettersOnly: readFlag(inputData, 'deadLettersOnly') || undefined,
    }),
  });
}

/** Zapier's datetime with its offset, as the API takes it. */
function readTime(z: ZObject, value: unknown): string | undefined {
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const time = new Date(value);
  if (Number.isNaN(time.getTime())) throw new z.errors.Error(`"${value}" is not a time.`, 'wrong_time', 400);
  return time.toISOString();
}
