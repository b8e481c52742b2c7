import { oneRequest, type Scenario } from '../scenario.ts'
import { BOUNDARY, filePart, multipart, type Part, uploadForm } from '../wire/files.ts'

const AREA = 'POST /files form'
const latin1 = (text: string): string => Buffer.from(text).toString('latin1')

/** The value of Content-Disposition of a single part. */
const DISPOSITIONS = [
  [
    'form-data; name="file"; filename="/scratch/n"',
    'form-data; name=file; filename=/scratch/n',
    'FORM-DATA; NAME="file"; FILENAME="/scratch/n"',
  ],
  [
    'form-data; name="file"',
    'form-data; name="file"; filename=""',
    'form-data; filename="/scratch/n"',
    'form-data; name="File"; filename="/scratch/n"',
  ],
  [
    'form-data; name="files"; filename="/scratch/n"',
    'form-data; name=""; filename="/scratch/n"',
    'form-data',
    'attachment; name="file"; filename="/scratch/n"',
  ],
  [
    'file; name="file"; filename="/scratch/n"',
    'inline; name="file"; filename="/scratch/n"',
    'form-data; name="file"; filename="/scratch/a\\"b"',
  ],
  [
    'form-data; name="file"; filename="/scratch/a\\\\b"',
    'form-data; name="file"; filename="C:\\dir\\n"',
    'form-data; name="file"; filename="/scratch/%22q.txt"',
  ],
  ['form-data; name="file"; filename*=utf-8\'\'%2Fscratch%2F%E6%96%87', 'form-data; name="file"; filename*=UTF-8\'en\'/scratch/x%20y'],
  [
    'form-data; name="file"; filename="/scratch/plain"; filename*=utf-8\'\'/scratch/star',
    'form-data; name="file"; filename*=iso-8859-1\'\'/scratch/%E9',
  ],
  [
    'form-data; name="file"; filename*=utf-8\'\'/scratch/%zz',
    'form-data; name="file"; filename*=/scratch/x',
    'form-data; name*=utf-8\'\'file; filename="/scratch/n"',
  ],
  [
    'form-data; name="file"; filename*0="/scratch/"; filename*1="joined"',
    'form-data; name="file"; filename="a"; filename="b"',
    'form-data; name="file"; name="x"; filename="a"',
  ],
  [
    'form-data; name="file"; filename="/scratch/n',
    'form-data; name="file; filename="/scratch/n"',
    'form-data name="file"; filename="/scratch/n"',
    '',
    ';',
    'form-data;',
  ],
  [
    'form-data; name="file"; filename="/scratch/n";',
    'form-data; name="file"; filename="/scratch/n"; x',
    'form-data ; name = "file" ; filename = "/scratch/n"',
  ],
  [
    'form-data; name="file"; filename="relative/name.txt"',
    'form-data; name="file"; filename="../up.txt"',
    'form-data; name="file"; filename="~/home.txt"',
  ],
  [
    'form-data; name="file"; filename="~other/x"',
    'form-data; name="file"; filename="."',
    'form-data; name="file"; filename="/"',
    'form-data; name="file"; filename="/scratch/dir"',
  ],
  [
    'form-data; name="file"; filename="/scratch/dir/"',
    'form-data; name="file"; filename="/scratch/file.txt/x"',
    'form-data; name="file"; filename="/scratch/new/deep/er"',
  ],
  [
    latin1('form-data; name="file"; filename="/scratch/é文.txt"'),
    'form-data; name="file"; filename="/scratch/caf\xe9"',
    'form-data; name="file"; filename="/scratch/a\0b"',
  ],
  [
    'form-data; name="file"; filename="/scratch/tab\there"',
    'form-data; name="file"; filename=/scratch/with space',
    'form-data; name="file"; filename="=?utf-8?q?/scratch/e=CC?="',
  ],
  [`form-data; name="file"; filename="/scratch/${'l'.repeat(255)}"`, `form-data; name="file"; filename="/scratch/${'l'.repeat(256)}"`],
].flat()

const SEVERAL: readonly (readonly Part[])[] = [
  [],
  [filePart('/scratch/1', 'one'), filePart('/scratch/2', 'two')],
  [filePart('/scratch/1', 'one'), filePart('/scratch/1', 'again')],
  [
    filePart('/scratch/1', 'one'),
    filePart('/scratch/2', 'two'),
    filePart('/scratch/3', 'three'),
    filePart('/scratch/1', 'again'),
    filePart('/scratch/4', 'never'),
  ],
  [filePart('/scratch/1', 'one'), filePart('/scratch//1', 'other spelling')],
  [filePart('/scratch/1', 'one'), filePart('/scratch/dir', 'a directory'), filePart('/scratch/3', 'three')],
  [filePart('file.txt', 'home'), filePart('~/file.txt', 'home again')],
  [{ head: ['Content-Disposition: form-data; name="other"; filename="x"'], content: 'skipped' }, filePart('/scratch/1', 'one')],
  [{ head: ['Content-Disposition: form-data; name="path"'], content: '/scratch/field' }, filePart('/scratch/1', 'one')],
  [{ head: [], content: 'no head' }, filePart('/scratch/1', 'one')],
  [{ head: ['Content-Type: text/plain'], content: 'no disposition' }],
  [{ head: ['content-disposition:form-data;name=file;filename=/scratch/1', 'content-type: text/plain'], content: 'lower case' }],
  [
    {
      head: ['Content-Disposition: form-data; name="file"; filename="/scratch/1"', 'Content-Transfer-Encoding: base64'],
      content: 'aGVsbG8=',
    },
  ],
  [
    {
      head: ['Content-Disposition: form-data; name="file"; filename="/scratch/1"', 'Content-Transfer-Encoding: quoted-printable'],
      content: 'a=3Db=\r\nc',
    },
  ],
  [
    {
      head: ['Content-Disposition: form-data; name="file"; filename="/scratch/1"', 'Content-Transfer-Encoding: QUOTED-PRINTABLE'],
      content: 'a=zz',
    },
  ],
  [{ head: ['Content-Disposition: form-data; name="file"; filename="/scratch/1"', 'Content-Encoding: gzip'], content: 'not decoded' }],
  [{ head: ['Content-Disposition: form-data; name="file";', ' filename="/scratch/folded"'], content: 'folded' }],
  [{ head: ['Content-Disposition : form-data; name="file"; filename="/scratch/1"'], content: 'space before the colon' }],
  [{ head: ['no colon'], content: 'x' }],
  [{ head: [`X: ${'y'.repeat(20_000)}`, 'Content-Disposition: form-data; name="file"; filename="/scratch/1"'], content: 'long head' }],
  [
    filePart('/scratch/1', ''),
    filePart('/scratch/2', '\r\n'),
    filePart('/scratch/3', `\r\n--${BOUNDARY}x\r\n`),
    filePart('/scratch/4', `--${BOUNDARY}`),
  ],
  [filePart('/scratch/1', 'x'.repeat(300_000)), filePart('/scratch/2', 'two')],
  Array.from({ length: 40 }, (_, index) => filePart(`/scratch/many/${index}`, String(index))),
]

const ONE = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="/scratch/1"\r\n\r\none`
/** Malformed forms. */
const BROKEN = [
  [
    '',
    '\r\n',
    'x',
    `--${BOUNDARY}`,
    `--${BOUNDARY}--`,
    `--${BOUNDARY}--\r\n`,
    `\r\n--${BOUNDARY}--\r\n`,
    `--${BOUNDARY}\r\n`,
    `--${BOUNDARY}\r\n\r\n`,
  ],
  [
    ONE,
    `${ONE}\r\n`,
    `${ONE}\r\n--${BOUNDARY}`,
    `${ONE}\r\n--${BOUNDARY}-`,
    `${ONE}\r\n--${BOUNDARY}--`,
    `${ONE}\r\n--${BOUNDARY}--trailing`,
    `${ONE}\r\n--${BOUNDARY}--\r\nepilogue`,
  ],
  [
    `preamble\r\n${ONE}\r\n--${BOUNDARY}--\r\n`,
    `preamble ${ONE}\r\n--${BOUNDARY}--\r\n`,
    `\r\n\r\n${ONE}\r\n--${BOUNDARY}--\r\n`,
    `${ONE}\n--${BOUNDARY}--\n`,
  ],
  [
    `${ONE}\r\n--${BOUNDARY} \t\r\n\r\nx\r\n--${BOUNDARY}--\r\n`,
    `${ONE}\r\n--${BOUNDARY}x--\r\n`,
    `${ONE}\r\n--other--\r\n`,
    `${ONE.replaceAll('\r\n', '\n')}\n--${BOUNDARY}--\n`,
  ],
  [
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="/scratch/1"`,
    `${ONE}\r\n--${BOUNDARY}\r\n`,
    `${ONE}\r\n--${BOUNDARY}\r\nContent-Disposition: form-data`,
  ],
].flat()

/** Uploads as forms. */
export function* formScenarios(): Generator<Scenario> {
  for (const disposition of DISPOSITIONS) {
    const body = multipart([{ head: [`Content-Disposition: ${disposition}`], content: 'content' }])
    yield oneRequest(AREA, uploadForm({}, body))
    yield oneRequest(AREA, uploadForm({ path: '/scratch/named' }, body))
  }
  for (const parts of SEVERAL) {
    yield oneRequest(AREA, uploadForm({}, multipart(parts)))
    yield oneRequest(AREA, uploadForm({ path: '/scratch/named', username: 'other' }, multipart(parts)))
    yield oneRequest(AREA, uploadForm({ username: 'user' }, multipart(parts), [['X-Metadata-Key', 'value']]))
  }
  for (const body of BROKEN) {
    yield oneRequest(AREA, uploadForm({}, body))
    yield oneRequest(AREA, uploadForm({ path: '/scratch/named' }, body))
  }
}
