import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";
import { pages } from "./src/pages";

const GATEWAY = process.env.WAVEPOOL_URL ?? "http://127.0.0.1:8080";

// What the gateway needs: each file in two encodings beside it, and the addresses of pages.
function forGateway(): Plugin {
  return {
    name: "for-gateway",
    apply: "build",
    writeBundle({ dir }) {
      const built = dir ?? "dist";
      for (const name of readdirSync(built, { recursive: true, encoding: "utf8" })) {
        if (!/\.(html|js|css|svg)$/.test(name)) continue;
        const path = join(built, name);
        const content = readFileSync(path);
        writeFileSync(`${path}.br`, brotliCompressSync(content));
        writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
      }
      writeFileSync(join(built, "pages.json"), `${JSON.stringify(Object.values(pages))}\n`);
    },
  };
}

export default defineConfig({
  plugins: [forGateway()],
  build: {
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
    rolldownOptions: {
      output: {
        // A changed line of ours leaves the files of others as they are.
        codeSplitting: {
          groups: [
            { name: "editor", test: /node_modules[\\/](@codemirror|@lezer|@marijn|style-mod|w3c-keyname|crelt)[\\/]/ },
            {
              name: "markdown",
              test: /node_modules[\\/](markdown-it|linkify-it|mdurl|uc\.micro|entities|punycode\.js)[\\/]/,
            },
            { name: "vim", test: /node_modules[\\/]@replit[\\/]/ },
            { name: "vendor", test: /node_modules[\\/]/ },
          ],
        },
      },
    },
  },
  // `make web-dev`: the page with reload, on the data of a gateway that runs.
  server: { host: "127.0.0.1", proxy: { "/api": GATEWAY } },
});
