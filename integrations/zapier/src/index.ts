import zapier, { defineApp } from 'zapier-platform-core';
import { authentication } from './authentication.ts';
import { markRejectionSeen } from './creates/mark-rejection-seen.ts';
import { replayEvents } from './creates/replay-events.ts';
import { findFiling } from './searches/find-filing.ts';
import { listRejections } from './searches/list-rejections.ts';
import { accountNeedsAttention } from './triggers/account-needs-attention.ts';
import { filingChanged } from './triggers/filing-changed.ts';
import { filingRejected } from './triggers/filing-rejected.ts';
import { subscriptions } from './triggers/subscriptions.ts';
import { version } from './version.ts';

/** The Zapier app. */
export default defineApp({
  version,
  platformVersion: zapier.version,
  // Empty inputs arrive as missing ones; and requests are logged by Zapier's client alone, which masks secrets.
  flags: { cleanInputData: true, skipHttpPatch: true },
  authentication,
  triggers: {
    filing_rejected: filingRejected,
    filing_changed: filingChanged,
    account_needs_attention: accountNeedsAttention,
    subscriptions,
  },
  searches: { find_filing: findFiling, list_rejections: listRejections },
  creates: { mark_rejection_seen: markRejectionSeen, replay_events: replayEvents },
});
