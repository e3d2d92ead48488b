import type { Bundle, Search, ZObject } from 'zapier-platform-core';
import { accountOf, callApi } from '../api.ts';
import { readText } from '../input.ts';

interface Board {
  readonly total: number;
  readonly items: readonly object[];
  readonly [field: string]: unknown;
}

/** The rejected filings of the account as one result with line items, for a digest. */
export const listRejections: Search = {
  key: 'list_rejections',
  noun: 'Rejection List',
  display: {
    label: 'List Rejections',
    description:
      'Lists the filings that are rejected now, up to a hundred of them, as line items; the total counts all.',
  },
  operation: {
    perform: list,
    inputFields: [
      {
        key: 'seen',
        label: 'Which',
        type: 'string',
        required: false,
        default: 'false',
        choices: { false: 'Those not yet seen', true: 'Those seen', all: 'All' },
        helpText: 'A rejection is seen when somebody marked it so.',
      },
      {
        key: 'state',
        label: 'State',
        type: 'string',
        required: false,
        placeholder: 'TX',
        helpText: 'Only filings of this state, by its abbreviation.',
      },
      {
        key: 'order',
        label: 'Order',
        type: 'string',
        required: false,
        default: 'oldest',
        choices: { oldest: 'Rejected for longest first', newest: 'Latest first' },
      },
      {
        key: 'limit',
        label: 'Maximum number',
        type: 'integer',
        required: false,
        default: '100',
        helpText: 'At most 100.',
      },
    ],
    outputFields: [
      { key: 'total', label: 'Total', type: 'integer' },
      {
        key: 'rejections',
        label: 'Rejections',
        children: [
          { key: 'filingId', label: 'Filing ID', type: 'string' },
          { key: 'policyNumber', label: 'Policy Number', type: 'string' },
          { key: 'insuredsName', label: "Insured's Name", type: 'string' },
          { key: 'stateAbbr', label: 'State Abbreviation', type: 'string' },
          { key: 'premium', label: 'Premium', type: 'number' },
          { key: 'rejectionReason', label: 'Rejection Reason', type: 'string' },
          { key: 'since', label: 'Since', type: 'datetime' },
        ],
      },
      {
        key: 'byReason',
        label: 'By Reason',
        children: [
          { key: 'reason', label: 'Reason', type: 'string' },
          { key: 'count', label: 'Count', type: 'integer' },
        ],
      },
    ],
    sample: {
      id: 'default',
      total: 1,
      rejections: [
        {
          account: 'default',
          filingId: 'f_123',
          policyNumber: 'SL-2026-0042',
          insuredsName: 'Bluebonnet Roofing LLC',
          stateAbbr: 'TX',
          premium: 1200.5,
          rejectionReason: 'Affidavit is not signed',
          since: '2026-11-21T10:00:03.120Z',
          sequence: 4,
          seen: null,
        },
      ],
      byReason: [{ reason: 'Affidavit is not signed', count: 1 }],
    },
  },
};

/** Always one result: "none" is an answer too, and a Zap can go on with the total 0. */
async function list(z: ZObject, bundle: Bundle): Promise<object[]> {
  const seen = readText(bundle.inputData, 'seen') ?? 'false';
  const account = accountOf(bundle);
  const { total, items, byReason } = await callApi<Board>(z, bundle, {
    path: '/v1/rejections',
    query: {
      account,
      seen: seen === 'all' ? undefined : seen,
      state: readText(bundle.inputData, 'state'),
      order: readText(bundle.inputData, 'order'),
      limit: readText(bundle.inputData, 'limit') ?? 100,
    },
  });
  return [{ id: account, total, rejections: items, byReason }];
}
