import { EventType } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { expect, it } from 'vitest'
import { statsEventType } from './stats-event-type.ts'

const BEFORE = { size: 5, ino: 7, mtimeMs: 1000, ctimeMs: 1000 }

it.for([
  ['written', { mtimeMs: 2000, ctimeMs: 2000 }, EventType.WRITE],
  ['written, its time set back', { size: 6, mtimeMs: 500, ctimeMs: 2000 }, EventType.WRITE],
  ['written, its mode changed', { mtimeMs: 2000, ctimeMs: 3000 }, EventType.WRITE],
  ['replaced by an older one', { ino: 8, mtimeMs: 500, ctimeMs: 2000 }, EventType.WRITE],
  ['its time set back', { mtimeMs: 500, ctimeMs: 2000 }, EventType.CHMOD],
  ['its mode changed', { ctimeMs: 2000 }, EventType.CHMOD],
  ['numbered anew', { ino: 8 }, undefined],
  ['as it was', {}, undefined],
] as const)('a file that was %s', ([, now, type]) => {
  expect(statsEventType(BEFORE, { ...BEFORE, ...now })).toBe(type)
})
