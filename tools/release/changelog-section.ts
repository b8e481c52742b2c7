/** The section of a version in CHANGELOG.md, with its heading. Undefined without one. */
export function changelogSection(changelog: string, version: string): string | undefined {
  const lines = changelog.split('\n')
  const start = lines.findIndex((line) => line === `## ${version}` || line.startsWith(`## ${version} `))
  if (start === -1) return undefined
  const length = lines.slice(start + 1).findIndex((line) => line.startsWith('## '))
  const section = lines.slice(start, length === -1 ? undefined : start + 1 + length)
  return `${section.join('\n').trim()}\n`
}
