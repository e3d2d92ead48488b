import type { Bundle, Create, ZObject } from 'zapier-platform-core';
import { callApi } from '../api.ts';
import { given, readText } from '../input.ts';

/** Marks a rejection as seen on the board, with a name and a note. */
export const markRejectionSeen: Create = {
  key: 'mark_rejection_seen',
  noun: 'Rejection',
  display: {
    label: 'Mark Rejection as Seen',
    description:
      'Marks a rejected filing as seen, with a note on what is done about it. The next change of the filing makes it unseen.',
  },
  operation: {
    perform: mark,
    inputFields: [
      {
        key: 'filingId',
        label: 'Filing ID',
        type: 'string',
        required: true,
        search: 'find_filing.id',
        helpText: 'The id of the filing at the partner service.',
      },
      {
        key: 'by',
        label: 'Seen by',
        type: 'string',
        required: true,
        placeholder: 'Front desk',
      },
      { key: 'note', label: 'Note', type: 'text', required: false, helpText: 'At most 500 characters.' },
    ],
    outputFields: [
      { key: 'id', label: 'Filing ID', type: 'string' },
      { key: 'status', label: 'Status', type: 'string' },
      { key: 'rejectionReason', label: 'Rejection Reason', type: 'string' },
      { key: 'seen__by', label: 'Seen By', type: 'string' },
      { key: 'seen__note', label: 'Note', type: 'string' },
      { key: 'seen__at', label: 'Seen At', type: 'datetime' },
    ],
    sample: {
      id: 'f_123',
      filingId: 'f_123',
      status: 'REJECTED',
      rejectionReason: 'Affidavit is not signed',
      seen: { by: 'Front desk', note: 'Signed copy requested', at: '2026-11-21T10:30:00.000Z' },
    },
  },
};

async function mark(z: ZObject, bundle: Bundle): Promise<object> {
  const filingId = readText(bundle.inputData, 'filingId') ?? '';
  const filing = await callApi<object>(z, bundle, {
    method: 'PUT',
    path: `/filings/${encodeURIComponent(filingId)}/seen`,
    body: given({ by: readText(bundle.inputData, 'by'), note: readText(bundle.inputData, 'note') }),
  });
  return { id: filingId, ...filing };
}
