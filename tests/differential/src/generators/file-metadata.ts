import type { Scenario } from '../scenario.ts'
import type { WireRequest } from '../wire/exchange.ts'
import { filePart, multipart, upload, uploadForm } from '../wire/files.ts'
import { jsonCall } from '../wire/rpc.ts'

type Headers = WireRequest['headers']

const HEADERS: readonly Headers[] = [
  [],
  [['X-Metadata-Key', 'value']],
  [
    ['x-metadata-key', 'value'],
    ['X-METADATA-KEY', 'second'],
  ],
  [
    ['X-Metadata-A', '1'],
    ['X-Metadata-B', '2'],
    ['X-Metadata-C', ''],
  ],
  [['X-Metadata-', 'empty key']],
  [['X-Metadata', 'no key']],
  [['X-Metadata-Key', '']],
  [['X-Metadata-Key', '  spaces  ']],
  [['X-Metadata-Key', 'a,b; c="d"']],
  [['X-Metadata-Key', 'caf\xe9']],
  [['X-Metadata-Key', 'tab\there']],
  [['X-Metadata-Key', Buffer.from('é').toString('latin1')]],
  [
    ['X-Metadata-__proto__', 'x'],
    ['X-Metadata-constructor', 'y'],
    ['X-Metadata-toString', 'z'],
  ],
  [['X-Metadata-Under_score.dot!#$%&*+^`|~', 'x']],
  [[`X-Metadata-${'k'.repeat(246)}`, 'x']],
  [[`X-Metadata-${'k'.repeat(247)}`, 'x']],
  [['X-Metadata-Key', 'v'.repeat(4084)]],
  [['X-Metadata-Key', 'v'.repeat(4085)]],
  Array.from({ length: 30 }, (_, index) => [`X-Metadata-K${index}`, 'v'.repeat(100)] as const),
  Array.from({ length: 40 }, (_, index) => [`X-Metadata-K${index}`, 'v'.repeat(100)] as const),
  [
    ['X-Metadata-Good', 'x'],
    ['X-Metadata-Bad', '\xff'],
  ],
]

/** Metadata on new files and on files that have metadata. */
export function* metadataScenarios(): Generator<Scenario> {
  for (const headers of HEADERS) {
    for (const path of ['/scratch/new', '/scratch/meta', '/scratch/meta-raw', '/scratch/to-meta', '/mnt/other/new']) {
      yield {
        area: 'metadata',
        steps: [
          { kind: 'request', request: upload({ path }, 'x', headers) },
          { kind: 'request', request: jsonCall('Stat', { path }) },
          { kind: 'request', request: upload({ path }, 'y') },
        ],
      }
    }
    const form = multipart([filePart('/scratch/1', 'one'), filePart('/scratch/meta', 'two')])
    yield { area: 'metadata', steps: [{ kind: 'request', request: uploadForm({}, form, headers) }] }
  }
}
