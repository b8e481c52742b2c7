/** `npm run bench:pages`: how long a page of each list takes at 100,000 rows. See bench/README.md. */
import '../bench/src/pages/main.ts'
