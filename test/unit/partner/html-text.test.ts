import { expect, test } from 'vitest';
import { htmlText } from '../../../src/partner/html-text.ts';

test.each([
  [
    '<ol><li>Pay &amp; file</li><li>Within <em>60&nbsp;days</em></li></ol>',
    '1. Pay & file\n2. Within 60 days',
  ],
  ['<ul><li>a<ol><li>b</li></ol></li><li>c</li></ul>', '- a\n1. b\n- c'],
  ['<p>one<br>two</p>three', 'one\ntwo\nthree'],
  ['a<script>alert("x")</script><style>p { color: red }</style>b', 'ab'],
  ['<img src=x onerror="alert(1)">a', 'a'],
  ['&lt;b&gt; &#8364; &#x41; &unknown; &#0;', '<b> € A &unknown; &#0;'],
  ['a < b', 'a < b'],
  ['', ''],
])('%s is %j', (html, text) => {
  expect(htmlText(html)).toBe(text);
});

test('reads hostile text once', () => {
  const long = 15_000;
  expect(htmlText('<'.repeat(long))).toHaveLength(long);
  expect(htmlText('<script'.repeat(long))).not.toBe('');
  expect(htmlText('&#'.repeat(long))).toHaveLength(2 * long);
});
