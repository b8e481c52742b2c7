import { expect, it } from 'vitest'
import { parseChoices } from './parse-choices.ts'

const LANES = ['net', 'file'] as const

it('returns the choices in the order of the text', () => {
  expect(parseChoices('file,net', 'lane', LANES)).toEqual(['file', 'net'])
})

it.each(['', 'disk', 'net,disk', 'net,'])('refuses %j and names the choices', (text) => {
  expect(() => parseChoices(text, 'lane', LANES)).toThrow(/^There is no lane ".*": net, file$/)
})
