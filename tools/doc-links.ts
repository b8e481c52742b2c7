import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** A link in Markdown to another file of the project or to a heading: `[text](path#heading)`. */
const LINK = /\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]+))?\)/g
const FENCED = /^```.*?^```/gms
const HEADING = /^#{1,6} +(.+?) *$/gm

/** One line for each link of a page that leads nowhere: to a file that is absent or empty, or to a heading that its page does not have. */
export function findBrokenLinks(root: string, pages: readonly string[]): string[] {
  return pages.flatMap((page) => {
    const from = join(root, page)
    const links = [...withoutCode(from).matchAll(LINK)]
    return links.flatMap(([, path = '', heading]) => {
      const to = path === '' ? from : join(dirname(from), decodeURIComponent(path))
      const reason = whyBroken(to, heading)
      return reason === undefined ? [] : [`${page}: ${relative(root, to)}${heading === undefined ? '' : `#${heading}`} ${reason}`]
    })
  })
}

function whyBroken(file: string, heading: string | undefined): string | undefined {
  if (!existsSync(file)) return 'is not there'
  if (!file.endsWith('.md')) return undefined
  const text = withoutCode(file)
  if (text.trim() === '') return 'is empty'
  return heading === undefined || anchors(text).has(heading) ? undefined : 'has no such heading'
}

function withoutCode(file: string): string {
  return readFileSync(file, 'utf8').replaceAll(FENCED, '')
}

/** The anchors of the headings, as GitHub makes them. */
function anchors(text: string): ReadonlySet<string> {
  const names = new Set<string>()
  for (const [, title = ''] of text.matchAll(HEADING)) {
    const plain = title.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const name = plain.replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, '').replaceAll(' ', '-')
    let unused = name
    for (let count = 1; names.has(unused); count++) unused = `${name}-${count}`
    names.add(unused)
  }
  return names
}
