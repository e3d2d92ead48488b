import type { Bundle, Search, ZObject } from 'zapier-platform-core';
import { callApi } from '../api.ts';
import { readList, readText } from '../input.ts';

/** A filing as the daemon last saw it. */
interface Filing {
  readonly filingId: string;
  readonly policyNumber: string | null;
  readonly [field: string]: unknown;
}

// Number of filings among which the best match is looked for.
const candidates = 25;

/** Finds a filing by policy number, insured's name or id. */
export const findFiling: Search = {
  key: 'find_filing',
  noun: 'Filing',
  display: {
    label: 'Find Filing',
    description: "Finds a filing by its policy number, its insured's name or its id.",
  },
  operation: {
    perform: find,
    inputFields: [
      {
        key: 'q',
        label: 'Search for',
        type: 'string',
        required: true,
        placeholder: 'SL-2026-0042',
        helpText:
          "Words of the policy number, the insured's name or the filing's id; each must occur. A filing whose id or policy number is exactly this comes first, then the latest.",
      },
      {
        key: 'status',
        label: 'Statuses',
        type: 'string',
        list: true,
        required: false,
        placeholder: 'REJECTED',
        helpText: 'Only filings in one of these statuses; empty for all.',
      },
      {
        key: 'state',
        label: 'State',
        type: 'string',
        required: false,
        placeholder: 'TX',
        helpText: 'Only filings of this state, by its abbreviation.',
      },
    ],
    outputFields: [
      { key: 'id', label: 'Filing ID', type: 'string' },
      { key: 'status', label: 'Status', type: 'string' },
      { key: 'since', label: 'Since', type: 'datetime' },
      { key: 'rejectionReason', label: 'Rejection Reason', type: 'string' },
      { key: 'completedAt', label: 'Completed At', type: 'string' },
      { key: 'policyNumber', label: 'Policy Number', type: 'string' },
      { key: 'insuredsName', label: "Insured's Name", type: 'string' },
      { key: 'stateAbbr', label: 'State Abbreviation', type: 'string' },
      { key: 'filingType', label: 'Filing Type', type: 'string' },
      { key: 'premium', label: 'Premium', type: 'number' },
      { key: 'sequence', label: 'Sequence', type: 'integer' },
      { key: 'removed', label: 'Removed', type: 'boolean' },
      { key: 'seen__by', label: 'Seen By', type: 'string' },
      { key: 'seen__note', label: 'Seen: Note', type: 'string' },
      { key: 'seen__at', label: 'Seen At', type: 'datetime' },
    ],
    sample: {
      id: 'f_123',
      filingId: 'f_123',
      status: 'REJECTED',
      since: '2026-11-21T10:00:03.120Z',
      completedAt: null,
      rejectionReason: 'Affidavit is not signed',
      sequence: 4,
      removed: false,
      policyNumber: 'SL-2026-0042',
      insuredsName: 'Bluebonnet Roofing LLC',
      stateAbbr: 'TX',
      filingType: 'NEW_BUSINESS',
      premium: 1200.5,
      seen: null,
    },
  },
};

async function find(z: ZObject, bundle: Bundle): Promise<object[]> {
  const q = readText(bundle.inputData, 'q');
  const { items } = await callApi<{ items: Filing[] }>(z, bundle, {
    path: '/filings',
    query: {
      q,
      status: readList(bundle.inputData, 'status')?.join(','),
      state: readText(bundle.inputData, 'state'),
      limit: candidates,
    },
  });
  const isExact = ({ filingId, policyNumber }: Filing) => filingId === q || policyNumber === q;
  return [...items.filter(isExact), ...items.filter((filing) => !isExact(filing))].map((filing) => ({
    id: filing.filingId,
    ...filing,
  }));
}
