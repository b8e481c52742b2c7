import { expect, it } from 'vitest'
import { formatTraceparent, parseTraceparent } from './traceparent.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'

it('reads what it writes', () => {
  const place = { traceId: TRACE, spanId: SPAN, flags: 1 }
  expect(formatTraceparent(place)).toBe(`00-${TRACE}-${SPAN}-01`)
  expect(parseTraceparent(formatTraceparent(place))).toEqual(place)
})

it('ignores the further fields of a later version', () => {
  expect(parseTraceparent(`01-${TRACE}-${SPAN}-00-more`)).toEqual({ traceId: TRACE, spanId: SPAN, flags: 0 })
})

it.each([
  undefined,
  '',
  `00-${TRACE}-${SPAN}`,
  `00-${TRACE}-${SPAN}-01-more`,
  `ff-${TRACE}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
])('refuses %s', (text) => {
  expect(parseTraceparent(text)).toBeUndefined()
})
