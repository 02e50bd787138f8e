// Development tools that need no record: they read and write the project, and no rule covers them.

import type { ProgramFamily } from "./program-record.ts";

export const projectTools: ProgramFamily = {
  familiar: `alembic ansible-inventory ansible-lint ant ast-grep autoreconf autoconf automake bats benchstat buck2 buf busted cdk
celery clang-format clang-tidy clojure commitizen compare copier coverage createdb createuser cross cz dbmate dbt
deptry dlv docsify doctest doxygen duckdb dune editorconfig-checker elm envsubst erlc fastlane flask flyway fpm gauge
gcov gem-release genhtml gleam golangci-lint goose gotestsum gunicorn gulp grunt hatch hypercorn iverilog jar javap
jekyll jps jsonlint jstack jstat jupyter kaniko karma knex knip ktlint kubeconform kubeval latexmk lcov leptos
liquibase lipo locust luacheck markdownlint markdownlint-cli2 mdbook migrate mkcert mvnw nbconvert newman nextest
nilaway openapi-generator packer patch-package pdm pg_isready phpcs phpstan phpunit pint pipdeptree pnpx psalm py-spy
pydocstyle pyinstaller qmake rebar3 redocly renovate-config-validator rspec rubocop rustfmt sass sequelize
scalafmt snyk sonar-scanner sphinx-build spotbugs sqlc sqlfluff sqlx standardrb staticcheck storybook streamlit
stylelint stylua svgo swagger-cli swiftlint swiftformat symfony tailwindcss task tensorboard terraform-docs tflint
tfsec thrift tilt trunk typedoc typeorm uuidgen uvicorn vale valgrind verilator wasm-pack wasm-bindgen wait-on
waitress-serve wp xcpretty xcrun yapf yard zola zap ginkgo mockgen mockery air reflex templ sqlboiler ent wire swag
oapi-codegen protoc-gen-go ko helm-docs kubelinter checkov terrascan infracost conftest opa cue jsonnet dhall pkl
nickel tsserver tsup unbuild microbundle ncc pkg nexe bit plop hygen degit np release-please conventional-changelog
commit-and-tag-version lsb_release inotifywait fswatch chokidar say notify-send lolcat toilet pbcopy pbpaste xclip xsel
basedpyright ty pyre pytype pylama pycodestyle interrogate mutmut hypothesis robot behave locustfile scrapy papermill
nbqa nbstripout cargo-nextest cargo-audit cargo-deny trunk-rs cbindgen bindgen diesel sea-orm-cli maturin cmake-format
cpplint include-what-you-use cpack conan vcpkg xmake premake5 gn autopoint libtoolize gettextize msgfmt xgettext`,
  programs: {},
};
