import { describe, expect, it } from 'vitest';
import {
  authorityOf,
  connectHeadBytesMax,
  connectRequest,
  readConnectHead,
} from '../../../src/proxy/connect-head.ts';

const read = (text: string) => {
  const head = readConnectHead(Buffer.from(text, 'latin1'));
  return head.kind === 'answer' ? [head.status, head.rest.toString('latin1')] : head.kind;
};

describe('an answer to CONNECT', () => {
  it.each([
    ['HTTP/1.1 200 OK\r\n\r\n', [200, '']],
    ['HTTP/1.0 200 Connection established\r\nvia: 1.1 p\r\n\r\n\x16\x03', [200, '\x16\x03']],
    ['HTTP/1.1 299\r\n\r\n', [299, '']],
    ['HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 4\r\n\r\nbody', [407, 'body']],
    ['HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 No\r\n\r\n', [503, '']],
    ['HTTP/1.1 100 Continue\r\n\r\n', 'incomplete'],
    ['', 'incomplete'],
    ['HTT', 'incomplete'],
    ['HTTP/1.1 200 OK\r\nvia: p\r\n', 'incomplete'],
    ['HTTP/2 200\r\n\r\n', 'malformed'],
    ['HTTP/1.1 20 OK\r\n\r\n', 'malformed'],
    ['HTTP/1.1 600 OK\r\n\r\n', 'malformed'],
    ['HTTP/1.1 200 OK\n\n\r\n\r\n', 'malformed'],
    ['SSH-2.0', 'malformed'],
    ['\r\n', 'malformed'],
    [`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(connectHeadBytesMax)}`, 'too_large'],
    [`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(connectHeadBytesMax)}\r\n\r\n`, 'too_large'],
  ])('%j', (text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  it('with endless interim responses ends at the bound', () => {
    expect(read('HTTP/1.1 100 Continue\r\n\r\n'.repeat(2_000))).toBe('too_large');
  });

  it('follows a request with host, port and credentials alone', () => {
    expect(connectRequest(authorityOf('2001:db8::1', 443), 'Basic abc')).toBe(
      'CONNECT [2001:db8::1]:443 HTTP/1.1\r\nhost: [2001:db8::1]:443\r\nuser-agent: filing-webhooks\r\nproxy-authorization: Basic abc\r\n\r\n',
    );
  });
});
