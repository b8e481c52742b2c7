/** Quoted text, without the name of a here-document (`<<'EOF'`). A quote that is not closed goes on to the end, so that one pass suffices. */
const QUOTED = /(?<!<<-?)(?:'[^']*(?:'|$)|"(?:\\[^]|[^"\\])*(?:"|\\?$))/g

/** Quoted text is no here-document: `echo "a << b"`. Neither are here-strings (`<<<`) and shifts (`1<<2`). */
export function hasHereDocument(content: string): boolean {
  const unquoted = content.replaceAll(QUOTED, '""')
  return /(?:^|[\s;|&(])\d*<<-?(?:['"][^'"]|[A-Za-z_])/.test(unquoted)
}
