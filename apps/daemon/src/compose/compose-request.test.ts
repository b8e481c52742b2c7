import { describe, expect, it } from 'vitest'
import { parseComposeRequest } from './compose-request.ts'

const WHOLE = '"source_paths":["a","b"],"destination":"d"'

describe('parseComposeRequest', () => {
  it.each([
    ['all fields', `{${WHOLE},"username":"u"}`, { sourcePaths: ['a', 'b'], destination: 'd', username: 'u' }],
    ['no user', `{${WHOLE}}`, { sourcePaths: ['a', 'b'], destination: 'd', username: undefined }],
    ['null as absent', `{${WHOLE},"username":null}`, { sourcePaths: ['a', 'b'], destination: 'd', username: undefined }],
    ['a null path as an empty one', '{"source_paths":[null],"destination":"d"}', { sourcePaths: [''], destination: 'd' }],
    ['unknown fields', `{${WHOLE},"extra":[{"}":1}]}`, { sourcePaths: ['a', 'b'], destination: 'd' }],
    ['names in any case', '{"Source_Paths":["a"],"DESTINATION":"d"}', { sourcePaths: ['a'], destination: 'd' }],
    ['the last of two', `{${WHOLE},"destination":"e"}`, { sourcePaths: ['a', 'b'], destination: 'e' }],
    ['what follows the first value', `\n {"x":"\\"}",${WHOLE}} {"destination":`, { sourcePaths: ['a', 'b'], destination: 'd' }],
    ['half a surrogate pair', '{"source_paths":["\\ud800"],"destination":"d"}', { sourcePaths: ['\ufffd'], destination: 'd' }],
  ])('takes %s', (_what, text, request) => {
    expect(parseComposeRequest(text)).toMatchObject(request)
  })

  it.each([
    ['', 'invalid request body: EOF'],
    [' \n', 'invalid request body: EOF'],
    ['{', 'invalid request body: unexpected EOF'],
    ['{"source_paths":["a', 'invalid request body: unexpected EOF'],
    ['[]', 'invalid request body: json: cannot unmarshal array into Go value of type api.ComposeRequest'],
    ['"x"', 'invalid request body: json: cannot unmarshal string into Go value of type api.ComposeRequest'],
    ['1', 'invalid request body: json: cannot unmarshal number into Go value of type api.ComposeRequest'],
    [
      '{"source_paths":"x"}',
      'invalid request body: json: cannot unmarshal string into Go struct field ComposeRequest.source_paths of type []string',
    ],
    [
      '{"source_paths":[true],"destination":1}',
      'invalid request body: json: cannot unmarshal bool into Go struct field ComposeRequest.source_paths of type string',
    ],
    [
      '{"source_paths":["a"],"destination":{}}',
      'invalid request body: json: cannot unmarshal object into Go struct field ComposeRequest.destination of type string',
    ],
    [
      `{${WHOLE},"username":1}`,
      'invalid request body: json: cannot unmarshal number into Go struct field ComposeRequest.username of type string',
    ],
    ['null', 'source_paths must not be empty'],
    ['{}x', 'source_paths must not be empty'],
    ['{"source_paths":[]}', 'source_paths must not be empty'],
    ['{"source_paths":["a"]}', 'destination is required'],
    ['{"source_paths":["a"],"destination":""}', 'destination is required'],
  ])('refuses %s', (text, message) => {
    expect(() => parseComposeRequest(text)).toThrow(expect.objectContaining({ kind: 'invalid_argument', message }))
  })

  it.each(['x', '\ufeff{}', '{"a":1,}', "{'a':1}", `{${WHOLE},"a":tru}`])('refuses %j, which is no JSON', (text) => {
    expect(() => parseComposeRequest(text)).toThrow(/^invalid request body: ./)
  })
})
