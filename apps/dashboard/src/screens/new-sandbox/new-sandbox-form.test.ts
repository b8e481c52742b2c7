import { expect, test } from 'vitest'
import { EMPTY_FORM, isComplete, toBody } from './new-sandbox-form.ts'

test('sends only what differs from the defaults', () => {
  expect(toBody(EMPTY_FORM)).toEqual({ templateID: 'base', timeout: 900 })
})

test('sends every field of a full form', () => {
  const body = toBody({
    template: ' web:v12 ',
    time: 1.5,
    unit: 'hours',
    atEnd: 'pause',
    autoResume: true,
    keepMemory: true,
    metadata: [
      ['run', '1'],
      ['', 'no name'],
    ],
    env: [['A', ' b ']],
    internet: 'list',
    allowOut: 'example.com, *.npmjs.org\n\n10.0.0.0/8 ',
    isPublic: false,
    isSecure: false,
  })
  expect(body).toEqual({
    templateID: 'web:v12',
    timeout: 5400,
    autoPause: true,
    autoResume: { enabled: true },
    secure: false,
    metadata: { run: '1' },
    envVars: { A: ' b ' },
    network: { allowOut: ['example.com', '*.npmjs.org', '10.0.0.0/8'], denyOut: ['0.0.0.0/0'], allowPublicTraffic: false },
  })
})

test('does not resume by itself what keeps no memory', () => {
  const body = toBody({ ...EMPTY_FORM, atEnd: 'pause', keepMemory: false, autoResume: true })
  expect(body).toMatchObject({ autoPause: true, autoPauseMemory: false })
  expect(body).not.toHaveProperty('autoResume')
})

test('is complete with a template, a time within the limit and what a list of hosts needs', () => {
  expect(isComplete(EMPTY_FORM, 900)).toBe(true)
  expect(isComplete(EMPTY_FORM, 899)).toBe(false)
  expect(isComplete({ ...EMPTY_FORM, time: Number.NaN }, 900)).toBe(false)
  expect(isComplete({ ...EMPTY_FORM, template: ' ' }, 900)).toBe(false)
  expect(isComplete({ ...EMPTY_FORM, internet: 'list', allowOut: ' \n' }, 900)).toBe(false)
})
