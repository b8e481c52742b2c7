import { expect, it } from 'vitest'
import { findGaps } from './find-gaps.ts'

const WHOLE = {
  operationId: 'listThings',
  summary: 'List things',
  tags: ['things'],
  security: [{ Key: [] }],
  parameters: [{ name: 'limit', description: 'Maximum' }],
  responses: {
    '200': { content: { 'application/json': { schema: { items: { $ref: '#/components/schemas/Thing' } } } } },
    '401': { $ref: '#/components/responses/401' },
  },
}
const gaps = (change: object): string[] => findGaps({ tags: [{ name: 'things' }], paths: { '/things': { get: { ...WHOLE, ...change } } } })

it('finds nothing in a whole operation', () => expect(gaps({})).toEqual([]))

it('does not ask for an answer about credentials where none are needed', () => {
  expect(gaps({ security: [], responses: {} })).toEqual([])
})

it.each([
  ['no id', { operationId: undefined }],
  ['no summary', { summary: undefined }],
  ['no tag that is described', { tags: ['others'] }],
  ['no security', { security: undefined }],
  ['no answer for refused credentials', { responses: {} }],
  ['parameters without a description: limit', { parameters: [{ name: 'limit' }] }],
  ['a body whose shape has no name', { requestBody: { content: { 'application/json': { schema: { properties: {} } } } } }],
])('finds %s', (gap, change) => expect(gaps(change)).toEqual([`GET /things has ${gap}`]))
