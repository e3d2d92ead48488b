import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkMailUrl, isMailUrl, mailHostOf, parseMailAddress } from '../../../src/egress/mail-address.ts';

const any = { allowDomains: null };

test.each([
  ['mailto:claims@agency.example', 'claims@agency.example'],
  ['MAILTO:Claims+TX@Agency.Example', 'Claims+TX@Agency.Example'],
  ["mailto:o'neil.j_r@a-b.agency.example", "o'neil.j_r@a-b.agency.example"],
])('%s is a mailbox', (url, address) => {
  expect(isMailUrl(url)).toBe(true);
  expect(checkMailUrl(url, any)).toEqual({ ok: true, mailbox: { address, host: address.split('@')[1] } });
});

test.each([
  'mailto:',
  'mailto:claims',
  'mailto:@agency.example',
  'mailto:claims@',
  'mailto:claims@localhost',
  'mailto:claims@agency.example?subject=x',
  'mailto:claims@agency.example?bcc=other@example.com',
  'mailto:claims@agency.example,other@agency.example',
  'mailto:claims@agency.example;other@agency.example',
  'mailto:claims@agency.example other@agency.example',
  'mailto:Claims <claims@agency.example>',
  'mailto:"claims"@agency.example',
  'mailto:claims%40x@agency.example',
  'mailto:claims@agency.example%0d%0aBcc:other@example.com',
  'mailto:claims@agency.example\r\nBcc: other@example.com',
  'mailto:claims@agency.example\n',
  'mailto://claims@agency.example',
  'mailto:.claims@agency.example',
  'mailto:cla..ims@agency.example',
  'mailto:claims@[127.0.0.1]',
  'mailto:claims@-agency.example',
  'mailto:claims@agency..example',
  'mailto:кл@agency.example',
  'mailto:claims@agencé.example',
  `mailto:${'x'.repeat(65)}@agency.example`,
  `mailto:claims@${'x'.repeat(60)}.${'y.'.repeat(100)}example`,
])('%j is refused with how it looks', (url) => {
  expect(checkMailUrl(url, any)).toEqual({
    ok: false,
    problem: expect.stringContaining('one plain address, such as mailto:claims@agency.example'),
  });
});

test.each([
  ['agency.example', true],
  ['AGENCY.example', true],
  ['mail.agency.example', true],
  ['a.b.agency.example', true],
  ['other.example', false],
  ['notagency.example', false],
  ['agency.example.attacker.com', false],
])('a host outside of SMTP_ALLOW_DOMAINS is refused with those inside: %s %s', (host, ok) => {
  const allowDomains = ['agency.example', '*.agency.example'];
  const checked = checkMailUrl(`mailto:a@${host}`, { allowDomains });
  expect(checked.ok).toBe(ok);
  expect('problem' in checked ? checked.problem : '').toContain(ok ? '' : 'agency.example, *.agency.example');
});

test('without a mail server the problem says what the operator sets', () => {
  expect(checkMailUrl('mailto:claims@agency.example', null)).toEqual({
    ok: false,
    problem: expect.stringContaining('SMTP_URL'),
  });
});

test('whatever is accepted is one word without signs that a header or an address list gives a meaning', () => {
  const signs = fc.constantFrom(...Array.from('ab1.-+_\'\r\n,;<>"()[]\\ :@%?&\t\0é'));
  const part = fc.string({ unit: signs, minLength: 1, maxLength: 8 });
  const hosts = fc.oneof(fc.constant('agency.example'), part);
  const texts = fc.tuple(part, hosts).map((parts) => parts.join('@'));
  fc.assert(
    fc.property(texts, (text) => {
      const parsed = parseMailAddress(text);
      if (parsed === null) return;
      expect(parsed.address).toMatch(/^[^\s,;:<>"()[\]\\%?&@\p{Cc}]+@[a-zA-Z\d.-]+$/u);
      expect(mailHostOf(`mailto:${text}`)).toBe(parsed.host);
    }),
  );
});
