import { Type } from 'typebox';
import {
  customHeadersMax,
  headerNameLengthMax,
  headerNamePattern,
  headerValueLengthMax,
  headerValuePattern,
} from '../../../egress/header-policy.ts';

/** Custom headers in requests. */
export const headersSchema = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: Type.String({ maxLength: headerValueLengthMax, pattern: headerValuePattern }),
  propertyNames: { maxLength: headerNameLengthMax, pattern: headerNamePattern },
  maxProperties: customHeadersMax,
  description:
    'Sent with every callback. Framing, routing, identity and signature headers are refused; all together have at most 8192 characters.',
  examples: [{ 'x-team': 'filings' }],
});
