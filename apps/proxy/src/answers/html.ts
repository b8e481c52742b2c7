/** A piece of HTML whose values are escaped. */
export interface Html {
  readonly markup: string
}

export interface PageContent {
  readonly status: number
  readonly title: string
  readonly text: Html
  readonly sandboxId: string | undefined
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const STYLE = [
  ':root{color-scheme:light dark}',
  'body{margin:0;min-height:100vh;display:grid;place-items:center;font:16px/1.6 system-ui,sans-serif;background:#f4f5f7;color:#1f2430}',
  'main{box-sizing:border-box;width:min(34rem,92vw);padding:2rem 2.25rem;border-radius:12px;background:#fff;box-shadow:0 1px 3px #0002,0 8px 30px #0001}',
  'h1{margin:.2rem 0 .6rem;font-size:1.45rem;line-height:1.25}',
  'p{margin:0 0 1rem}',
  '.status{margin:0;color:#6b7280;font-weight:600;letter-spacing:.04em}',
  '.id{margin:0;padding-top:.8rem;border-top:1px solid #8883;color:#6b7280;font-size:.9rem}',
  'code{padding:.1em .35em;border-radius:5px;background:#8882;font:.92em ui-monospace,monospace;overflow-wrap:anywhere}',
  '@media(prefers-color-scheme:dark){body{background:#14161b;color:#e6e8ec}main{background:#1e2128}}',
].join('')

/** A template for HTML that escapes its values: `` html`<b>${text}</b>` ``. */
export function html(texts: TemplateStringsArray, ...values: readonly (string | number)[]): Html {
  return { markup: String.raw({ raw: texts }, ...values.map((value) => escapeHtml(String(value)))) }
}

/** A whole page without external resources. It starts with `<html` and ends with `</html>` (control-plane.md 19.3). */
export function layOut({ status, title, text, sandboxId }: PageContent): string {
  const id = sandboxId === undefined ? '' : `<p class="id">Sandbox <code>${escapeHtml(sandboxId)}</code></p>`
  return [
    '<html lang="en">',
    '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex">',
    `<title>${escapeHtml(title)}</title><style>${STYLE}</style></head>`,
    `<body><main><p class="status">${status}</p><h1>${escapeHtml(title)}</h1><p>${text.markup}</p>${id}</main></body>`,
    '</html>',
  ].join('\n')
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}
