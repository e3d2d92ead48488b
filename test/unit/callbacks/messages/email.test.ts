import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toEmail } from '../../../../src/callbacks/messages/email.ts';
import { toMessage, type EventBody } from '../../../../src/callbacks/messages/message.ts';
import { withLink } from '../../../support/with-link.ts';

const timestamp = '2026-11-21T10:00:03.120Z';
const emailOf = (body: Omit<EventBody, 'timestamp'>, publicUrl: string | null = null) =>
  toEmail(toMessage(withLink({ ...body, timestamp }, publicUrl)));

const rejected = {
  type: 'filing.rejected',
  data: {
    account: 'default',
    filingId: 'f_later',
    status: 'REJECTED',
    previousStatus: 'PENDING',
    rejectionReason: 'Affidavit is not <signed>\nsee page 2',
    changed: ['status', 'rejectionReason'],
    filing: {
      insuredsName: 'Later & Sons',
      policyNumber: 'SL-2',
      premium: 1200,
      filingState: { stateAbbr: 'TX' },
    },
  },
};

test('an event is a subject, the reason as a quotation, where and when, and a link, in text and HTML', () => {
  const { subject, text, html } = emailOf(rejected, 'https://filings.example.com');
  const link = 'https://filings.example.com/#/accounts/default/filing/f_later';
  expect(subject).toBe('Rejected: Later & Sons · policy SL-2 · TX · $1,200');
  expect(text).toBe(
    `${subject}\n\n> Affidavit is not <signed>\n> see page 2\n\naccount default · f_later · was PENDING · 2026-11-21 10:00 UTC\n\nOpen: ${link}\n`,
  );
  expect(html).toContain('Rejected:</strong> Later &amp; Sons · policy SL-2 · TX · $1,200');
  expect(html).toContain('Affidavit is not &lt;signed&gt;<br>see page 2');
  expect(html).toContain(`<a href="${link}">Open</a>`);
});

test('without the address of the page there is no link', () => {
  const { text, html } = emailOf(rejected);
  expect(text).not.toContain('Open');
  expect(html).not.toContain('<a ');
});

describe('what others wrote', () => {
  const hostile = fc.string({
    unit: fc.constantFrom(...Array.from('<>&"\'\r\n\u2028\0\u202eab /=;'), 'script', 'Bcc: x@y'),
  });

  test('is text in HTML, and one line in the subject', () => {
    const tags = emailOf(rejected).html.match(/<[^>]*>/g)?.length;
    fc.assert(
      fc.property(hostile, hostile, (insuredsName, policyNumber) => {
        const filing = { ...rejected.data.filing, insuredsName, policyNumber };
        const { subject, html } = emailOf({ ...rejected, data: { ...rejected.data, filing } });
        expect(subject).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
        expect(subject.length).toBeLessThanOrEqual(250);
        expect(html.match(/<[^>]*>/g)?.length).toBe(tags);
      }),
    );
  });

  test('is cut where it is long', () => {
    const rejectionReason = `${'x'.repeat(5_000)}\n${'y\n'.repeat(50_000)}`;
    const { text, html } = emailOf({ ...rejected, data: { ...rejected.data, rejectionReason } });
    expect(text.length).toBeLessThan(30_000);
    expect(html.length).toBeLessThan(60_000);
  });
});
