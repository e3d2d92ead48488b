import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { hideUrlPath, isHiddenUrl } from '../../../src/subscriptions/options/url.ts';

test.each([
  ['https://hooks.slack.com/services/T0/B0/secret', 'https://hooks.slack.com/…'],
  ['https://events.pagerduty.com:8443/v2?routing_key=secret#secret', 'https://events.pagerduty.com:8443/…'],
  ['https://user:secret@example.com', 'https://example.com/…'],
  ['https://example.com', 'https://example.com/…'],
  ['mailto:jane.doe@agency.example', 'mailto:…@agency.example'],
  ['no url with a secret', ''],
  ['', ''],
])('%s is shown as %s', (url, shown) => {
  expect(hideUrlPath(url)).toBe(shown);
});

test('nothing of path, query, user, password or fragment is left, and a copy of it is known as one', () => {
  fc.assert(
    fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (url) => {
      const shown = hideUrlPath(url);
      expect(shown).toBe(`${new URL(url).origin}/…`);
      expect([isHiddenUrl(shown), isHiddenUrl(new URL(shown).href), isHiddenUrl(url)]).toEqual([
        true,
        true,
        false,
      ]);
    }),
  );
});
